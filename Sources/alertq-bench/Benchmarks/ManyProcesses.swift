import SQLiteStore

/// How many questions sixteen processes store per second, and how long each question waits.
enum ManyProcesses: Benchmark {
    static let name = "processes"
    static let abstract = "Durable asks by 16 processes"

    private static let processes = 16

    static func run(_ plan: Plan) async throws -> [Row] {
        var (ours, plain): ([Double], [Double]) = ([], [])
        var (waits, plainWaits): ([Double], [Double]) = ([], [])
        for _ in 0..<plan.rounds {
            let (plainRate, plainTimes) = try await measure(.plain, count: plan.count(100))
            plain.append(plainRate)
            plainWaits.append(plainTimes.percentile(99) / 1000)
            let (rate, times) = try await measure(.ask, count: plan.count(200))
            ours.append(rate)
            waits.append(times.percentile(99) / 1000)
        }
        return [
            .rate(
                name, "\(processes) processes", ours: ours.median, plain: plain.median,
                atLeast: 2),
            .bound(
                name, "\(processes) processes, p99", waits.median, unit: "ms", atMost: 30,
                plain: plainWaits.median),
        ]
    }

    /// The asks per second, and how long each took in microseconds.
    static func measure(
        _ mode: ChildMode, count: Int
    ) async throws -> (rate: Double, times: [Double]) {
        let workspace = try Workspace()
        let path = workspace.path("queue.db")
        try await SQLiteAlertStore.open(path: path).close()
        let children = try (0..<processes).map { _ in try BenchmarkChild(mode, path, "\(count)") }
        for child in children { _ = child.line() }
        let start = ContinuousClock.now
        for child in children { child.go() }
        let times = children.flatMap { $0.numbers() }
        let elapsed = ContinuousClock.now - start
        guard times.count == processes * count else {
            throw BenchmarkError("\(processes * count - times.count) asks failed")
        }
        return (Double(times.count) / elapsed.inSeconds, times)
    }
}
