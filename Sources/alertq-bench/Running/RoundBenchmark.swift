/// A benchmark whose size is always the same.
protocol RoundBenchmark: Benchmark {
    /// Measures in `rounds` interleaved rounds.
    static func run(rounds: Int) async throws -> [Row]
}

extension RoundBenchmark {
    static func run(_ plan: Plan) async throws -> [Row] { try await run(rounds: plan.rounds) }
}
