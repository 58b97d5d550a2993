import AlertQueue
import Glibc
import SQLiteStore

/// How long it takes to open a queue and find its first alert, and how much memory that needs.
enum Opening: Benchmark {
    static let name = "open"
    static let abstract = "Opening with many alerts waiting and after a crash, and the memory"

    static func run(_ plan: Plan) async throws -> [Row] {
        let workspace = try Workspace()
        let queue = try await FilledQueue.make(
            resolved: plan.alerts, waiting: plan.alerts, plan: plan)
        let lone = workspace.path("lone.db")
        let store = try await SQLiteAlertStore.open(path: lone)
        _ = try await store.enqueue(.sample, by: .bench)
        await store.close()
        var (full, empty, crashed): ([Double], [Double], [Double]) = ([], [], [])
        var (fullMemory, emptyMemory): ([Double], [Double]) = ([], [])
        for _ in 0..<plan.rounds {
            for _ in 0..<plan.count(40) + 1 {
                empty.append(try await time(lone))
                full.append(try await time(queue.path))
            }
            crashed.append(try await timeAfterCrash(plan))
            emptyMemory.append(try memory(lone))
            fullMemory.append(try memory(queue.path))
        }
        let size = "\(plan.alerts) waiting"
        // The noise of one measurement may be more than the difference.
        let more = max(0, fullMemory.median - emptyMemory.median)
        return [
            .bound(
                name, size, full.median, unit: "µs", atMost: 1000, plain: empty.median),
            .time(
                name, size + ", compared with 1 waiting", ours: full.median, plain: empty.median,
                unit: "µs", atMost: 1.2),
            .bound(name, "after a crash", crashed.median, unit: "µs", atMost: 10_000),
            .bound(
                name, "memory, more than with 1 waiting", more / 1024, unit: "MiB", atMost: 2),
        ]
    }

    /// From nothing to the first alert, in microseconds.
    private static func time(_ path: String) async throws -> Double {
        let start = ContinuousClock.now
        let store = try await SQLiteAlertStore.open(path: path)
        let first = try await store.next(ScreenQuery(for: ["terminal"]))
        let time = (ContinuousClock.now - start).inMicroseconds
        guard first.record != nil else { throw BenchmarkError("nothing waits in \(path)") }
        await store.close()
        return time
    }

    /// Opens a queue whose last process was killed and left a log of some thousand pages.
    private static func timeAfterCrash(_ plan: Plan) async throws -> Double {
        let workspace = try Workspace()
        let path = workspace.path("queue.db")
        try await SQLiteAlertStore.open(path: path).close()
        let child = try BenchmarkChild(.crash, path, "\(plan.count(120))")
        guard child.wait() == 128 + SIGKILL else {
            throw BenchmarkError("the process that should have been killed ended by itself")
        }
        return try await time(path)
    }

    /// The largest resident set of a process that reads a queue, in KiB.
    private static func memory(_ path: String) throws -> Double {
        let child = try BenchmarkChild(.memory, path)
        guard let size = child.numbers().first else {
            throw BenchmarkError("the process that should have reported its memory failed")
        }
        child.wait()
        return size
    }
}
