/// A benchmark, which measures the queue and something plainer in the same run.
protocol Benchmark: Sendable {
    static var name: String { get }
    /// One line for `--list`.
    static var abstract: String { get }

    /// Measures as much as the plan says.
    static func run(_ plan: Plan) async throws -> [Row]
}

extension [Double] {
    var median: Double { percentile(50) }

    /// The value below which a share of all values lies; the share is from 0 to 100.
    func percentile(_ share: Double) -> Double {
        guard !isEmpty else { return .nan }
        let ordered = sorted()
        let index = Int((Double(ordered.count - 1) * share / 100).rounded())
        return ordered[index]
    }
}

extension Duration {
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    var inMicroseconds: Double { inSeconds * 1e6 }
}

extension Double {
    /// The operations per second of a piece of work that consists of a number of operations.
    static func rate(_ operations: Int, _ work: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try work()
        return Double(operations) / (ContinuousClock.now - start).inSeconds
    }
}
