import AlertQueue
import SQLiteStore

/// The main job, one alert at a time: ask, present, answer, collect, with all audit entries.
enum RoundTrip: RoundBenchmark {
    static let name = "round-trip"
    static let abstract = "Ask, present, answer and collect, one at a time, with the audit log"

    static func run(rounds: Int) async throws -> [Row] {
        var (ours, plain): ([Double], [Double]) = ([], [])
        var (inC, jobs): ([Double], [Double]) = ([], [])
        var (appearances, apart, syncs): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<rounds {
            let workspace = try Workspace()
            syncs += try Disk.syncTimes(in: workspace, count: 300)
            plain.append(try await plainRate(in: workspace, count: 400))
            inC.append(try await rateInC(in: workspace, count: 400))
            jobs.append(try jobRate(in: workspace, count: 400))
            let trips = try await trips(in: workspace, count: 400)
            ours.append(trips.rate)
            appearances += trips.times
            apart += trips.timesApart
        }
        let sync = syncs.median
        return [
            .rate(name, "ask to collect", ours: ours.median, plain: plain.median, atLeast: 0.65),
            .time(
                name, "ask to presenter, p50", ours: appearances.median, plain: sync, unit: "µs",
                atMost: 2.5),
            .time(
                name, "ask to presenter, p99", ours: appearances.percentile(99), plain: sync,
                unit: "µs", atMost: 8),
            .bound(
                name, "ask to presenter, 5 ms apart, p50", apart.median, unit: "µs", atMost: 400),
            .comparison(
                name, "ask to collect, compared with C", ours: ours.median, plain: inC.median,
                unit: "/s"),
            .comparison(
                name, "ask to collect, compared with a job queue", ours: ours.median,
                plain: jobs.median, unit: "/s"),
            .comparison(
                name, "the plain loop, Swift compared with C", ours: plain.median,
                plain: inC.median,
                unit: "/s"),
        ]
    }

    private static func plainRate(in workspace: Workspace, count: Int) async throws -> Double {
        let path = workspace.path("plain.db")
        try await SQLiteAlertStore.open(path: path).close()
        let loop = try PlainLoop(path: path)
        for number in 0..<50 { try loop.answer(loop.ask(number)) }
        return try Double.rate(count) {
            for number in 0..<count { try loop.answer(loop.ask(number)) }
        }
    }

    private static func rateInC(in workspace: Workspace, count: Int) async throws -> Double {
        let path = workspace.path("c.db")
        try await SQLiteAlertStore.open(path: path).close()
        let loop = try PlainLoopInC(path: path)
        try loop.askAndAnswer(count: 50)
        return try Double.rate(count) { try loop.askAndAnswer(count: count) }
    }

    /// How many jobs a job queue enqueues, claims and acknowledges per second.
    private static func jobRate(in workspace: Workspace, count: Int) throws -> Double {
        let queue = try JobQueue(path: workspace.path("jobs.db"))
        try queue.cycle(count: 50)
        return try Double.rate(count) { try queue.cycle(count: count) }
    }

    /// The round trips per second, and the times from asking to the presenter in microseconds: of
    /// trips in a loop, and of a quarter as many with pauses of 5 ms.
    private static func trips(
        in workspace: Workspace, count: Int
    ) async throws -> (rate: Double, times: [Double], timesApart: [Double]) {
        let stopwatch = Stopwatch()
        let manager = try await AlertManager(
            path: workspace.path("queue.db"), presenters: [stopwatch])
        let appearance = {
            let asked = ContinuousClock.now
            _ = try await manager.ask(DurableAsk.question)
            return (stopwatch.lastAppearance - asked).inMicroseconds
        }
        for _ in 0..<50 { _ = try await appearance() }
        var (times, timesApart): ([Double], [Double]) = ([], [])
        let start = ContinuousClock.now
        for _ in 0..<count { times.append(try await appearance()) }
        let elapsed = ContinuousClock.now - start
        for _ in 0..<(count / 4) {
            try await Task.sleep(for: .milliseconds(5))
            timesApart.append(try await appearance())
        }
        await manager.close()
        return (Double(count) / elapsed.inSeconds, times, timesApart)
    }
}
