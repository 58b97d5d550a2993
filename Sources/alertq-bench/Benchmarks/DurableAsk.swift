import AlertQueue
import SQLiteStore

/// How many questions become durable per second, for one caller and for many waiting tasks.
enum DurableAsk: RoundBenchmark {
    static let name = "ask"
    static let abstract = "Durable asks: one caller, and 16, 64 and 512 waiting tasks"

    private static let cases: [(tasks: Int, factor: Double)] = [
        (1, 0.85), (16, 4), (64, 10), (512, 20),
    ]

    static func run(rounds: Int) async throws -> [Row] {
        var ours = [Int: [Double]]()
        var plain: [Double] = []
        var limits = [Int: [Double]]()
        var (inC, enqueues): ([Double], [Double]) = ([], [])
        var waits: [Double] = []
        for _ in 0..<rounds {
            plain.append(try await plainRate(count: 1000, batch: 1))
            inC.append(try await rateInC(count: 1000))
            enqueues.append(try enqueueRate(count: 1000))
            for (tasks, _) in cases {
                if tasks > 1 {
                    let limit = try await plainRate(count: max(4096, 20 * tasks), batch: tasks)
                    limits[tasks, default: []].append(limit)
                }
                let (rate, times) = try await rate(tasks: tasks, count: max(1000, tasks * 60))
                ours[tasks, default: []].append(rate)
                if tasks == 16 { waits += times }
            }
        }
        let rows = cases.map { tasks, factor in
            Row.rate(
                name, tasks == 1 ? "1 caller" : "\(tasks) tasks",
                ours: ours[tasks, default: []].median, plain: plain.median, atLeast: factor)
        }
        let comparisons = cases.map(\.tasks).filter { $0 > 1 }.map { tasks in
            Row.rate(
                name, "\(tasks) tasks, of SQLite's own", ours: ours[tasks, default: []].median,
                plain: limits[tasks, default: []].median, atLeast: 0.75)
        }
        let one = ours[1, default: []].median
        return rows + comparisons + [
            .bound(name, "16 tasks, p99", waits.percentile(99) / 1000, unit: "ms", atMost: 4),
            .comparison(
                name, "1 caller, compared with the loop in C", ours: one, plain: inC.median,
                unit: "/s"),
            .comparison(
                name, "1 caller, compared with a job queue", ours: one, plain: enqueues.median,
                unit: "/s"),
            .comparison(
                name, "the plain loop, Swift compared with C", ours: plain.median,
                plain: inC.median,
                unit: "/s"),
        ]
    }

    static let question = Alert(
        "Prune old snapshots?", message: "40 GB",
        buttons: [Alert.Button("Yes", id: "yes"), .cancel("No", id: "no")])

    /// How many questions plain SQLite stores per second, `batch` of them in each synced
    /// transaction.
    private static func plainRate(count: Int, batch: Int) async throws -> Double {
        let workspace = try Workspace()
        try await SQLiteAlertStore.open(path: workspace.path("queue.db")).close()
        return try PlainLoop(path: workspace.path("queue.db")).rate(count: count, batch: batch)
    }

    /// How many questions the loop in C stores per second, one in each synced transaction.
    private static func rateInC(count: Int) async throws -> Double {
        let workspace = try Workspace()
        try await SQLiteAlertStore.open(path: workspace.path("queue.db")).close()
        let loop = try PlainLoopInC(path: workspace.path("queue.db"))
        try loop.ask(count: 100)
        return try Double.rate(count) { try loop.ask(count: count) }
    }

    /// How many jobs a job queue enqueues per second, one in each synced transaction.
    private static func enqueueRate(count: Int) throws -> Double {
        let workspace = try Workspace()
        let queue = try JobQueue(path: workspace.path("jobs.db"))
        try queue.enqueue(count: 100)
        return try Double.rate(count) { try queue.enqueue(count: count) }
    }

    /// The asks per second, and how long each took in microseconds.
    private static func rate(tasks: Int, count: Int) async throws -> (rate: Double, times: [Double])
    {
        let workspace = try Workspace()
        let store = try await SQLiteAlertStore.open(path: workspace.path("queue.db"))
        let result = try await rate(of: store, tasks: tasks, count: count)
        await store.close()
        return result
    }

    /// The asks per second in an open store, and how long each took in microseconds.
    static func rate(
        of store: some AlertStore, tasks: Int, count: Int
    ) async throws -> (rate: Double, times: [Double]) {
        let prototype = Question(alert: question, source: "bench", pendingLimit: .max)
        for _ in 0..<100 { _ = try await store.enqueue(prototype, by: .bench) }
        let start = ContinuousClock.now
        let times = try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    var times: [Double] = []
                    for _ in 0..<(count / tasks) {
                        let start = ContinuousClock.now
                        _ = try await store.enqueue(prototype, by: .bench)
                        times.append((ContinuousClock.now - start).inMicroseconds)
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let elapsed = ContinuousClock.now - start
        return (Double(times.count) / elapsed.inSeconds, times)
    }
}
