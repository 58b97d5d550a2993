import AlertCore

/// The numbers of the responses that a stretch of the log tells of: each follows the one before, or
/// is the one from which a restore made them go on.
struct ResponseNumbers: Sendable {
    /// The numbers that were given.
    var given = GivenNumbers()
    /// The first one, and whether a restore came before it.
    private var first: (number: Int64, isAfterRestore: Bool)?

    /// Adds the next number; `false` where it is another one.
    mutating func add(_ number: Int64) -> Bool {
        // Where nothing came before, only the stretch before can tell.
        let isKnown = first != nil || given.start != nil
        if first == nil { first = (number, given.start != nil) }
        return (!isKnown || number == given.next) && given.add(number)
    }

    /// Adds those of the next stretch; `false` where they don't go on from these.
    mutating func merge(_ next: ResponseNumbers) -> Bool {
        let isNext =
            next.first.map { its in
                its.isAfterRestore || (first == nil && given.start == nil)
                    || its.number == given.next
            } ?? true
        if first == nil, let its = next.first {
            first = (its.number, its.isAfterRestore || given.start != nil)
        }
        return given.merge(next.given) && isNext
    }

    /// Whether the first of all is number 1, unless a restore came before it.
    var beginsAtOne: Bool { first.map { $0.isAfterRestore || $0.number == 1 } ?? true }
}
