/// The numbers assigned to rows of one kind, according to the log: a restore continues them from a
/// number that is far beyond the last one.
package struct GivenNumbers: Sendable, Hashable {
    /// The lowest number before the first restore, and the highest of all.
    private var lowest: Int64?
    package private(set) var greatest: Int64?
    /// The numbers from which the first and the last restore continued.
    private var firstStart: Int64?
    package private(set) var start: Int64?

    package init() {}

    /// The highest number that may have been assigned.
    package var last: Int64 { max(greatest ?? 0, (start ?? 1) - 1) }

    /// The number after the last.
    package var next: Int64 { last.addingBounded(1) }

    /// Adds a number; `false` if a restore had skipped it.
    package mutating func add(_ number: Int64) -> Bool {
        greatest = max(greatest ?? number, number)
        guard let start else {
            lowest = min(lowest ?? number, number)
            return true
        }
        return number >= start
    }

    /// Records a restore; `false` if it does not jump far enough.
    package mutating func go(onFrom number: Int64) -> Bool {
        let isFar = number.subtractingBounded(last) > RestoredQueue.jump
        firstStart = firstStart ?? number
        start = number
        return isFar
    }

    /// Adds the numbers of a later part of the log; `false` if they don't continue these.
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
