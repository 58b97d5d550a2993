import AlertCore

/// The numbers of the responses in a stretch of the log: each follows the previous one, or is the
/// one from which a restore made them continue.
struct ResponseNumbers: Sendable {
    /// The numbers that were assigned.
    var given = GivenNumbers()
    /// The first one, and whether a restore came before it.
    private var first: (number: Int64, isAfterRestore: Bool)?

    /// Adds the next number; `false` if it is not the expected one.
    mutating func add(_ number: Int64) -> Bool {
        // If nothing came before, only the previous stretch shows what is expected.
        let isKnown = first != nil || given.start != nil
        if first == nil { first = (number, given.start != nil) }
        return (!isKnown || number == given.next) && given.add(number)
    }

    /// Adds those of the next stretch; `false` if they don't continue these.
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

    /// Whether the very first number is 1, unless a restore came before it.
    var beginsAtOne: Bool { first.map { $0.isAfterRestore || $0.number == 1 } ?? true }
}
