/// The numbers that rows of one kind were given, as the log tells of them: a restore makes them go
/// on from a number that lies far beyond.
package struct GivenNumbers: Sendable, Hashable {
    /// The least number before the first restore, and the greatest of all.
    private var lowest: Int64?
    package private(set) var greatest: Int64?
    /// What the first and the last restore made the numbers go on from.
    private var firstStart: Int64?
    package private(set) var start: Int64?

    package init() {}

    /// The greatest number that may have been given.
    package var last: Int64 { max(greatest ?? 0, (start ?? 1) - 1) }

    /// The one after the last.
    package var next: Int64 { last.addingBounded(1) }

    /// Adds a number; `false` for one that a restore had jumped over.
    package mutating func add(_ number: Int64) -> Bool {
        greatest = max(greatest ?? number, number)
        guard let start else {
            lowest = min(lowest ?? number, number)
            return true
        }
        return number >= start
    }

    /// Notes a restore; `false` for one that does not jump far enough.
    package mutating func go(onFrom number: Int64) -> Bool {
        let isFar = number.subtractingBounded(last) > RestoredQueue.jump
        firstStart = firstStart ?? number
        start = number
        return isFar
    }

    /// Adds those of what comes after; `false` where they don't go on from these.
    package mutating func merge(_ later: GivenNumbers) -> Bool {
        let isLater = (later.lowest ?? .max) >= (start ?? .min)
        let isFar =
            later.firstStart.map { $0.subtractingBounded(last) > RestoredQueue.jump } ?? true
        if start == nil, let its = later.lowest { lowest = min(lowest ?? its, its) }
        greatest = later.greatest.map { max(greatest ?? $0, $0) } ?? greatest
        firstStart = firstStart ?? later.firstStart
        start = later.start ?? start
        return isLater && isFar
    }
}
