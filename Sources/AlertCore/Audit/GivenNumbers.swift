import TextFormats

/// The ids assigned to alerts, according to the log: a restore continues them from a number that is
/// far beyond the last one.
package struct GivenNumbers: Sendable, Hashable {
    private var greatest: Int64?
    /// The number from which the last restore continued.
    private var start: Int64?

    package init() {}

    /// The highest number that may have been assigned.
    private var last: Int64 { max(greatest ?? 0, (start ?? 1).subtractingBounded(1)) }

    /// Adds a number; `false` if a restore had skipped it.
    package mutating func add(_ number: Int64) -> Bool {
        greatest = max(greatest ?? number, number)
        return number >= start ?? .min
    }

    /// What is wrong if the next alert would have at least some number.
    package func fault(ifFirst number: Int64) -> String? {
        let logged = start ?? 1
        if number == logged { return nil }
        return "the next alert would have at least the number \(number), but the log says \(logged)"
    }

    /// Records a restore; `false` if it does not jump far enough.
    ///
    /// - Parameter jump: What it has to jump over.
    package mutating func resume(
        from number: Int64, beyond jump: Int64 = RestoredQueue.jump
    ) -> Bool {
        let isFar = number.subtractingBounded(last) > jump
        start = number
        return isFar
    }
}
