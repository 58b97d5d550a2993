import AlertQueue
import FoundationEssentials
import Synchronization

/// How fast old texts are erased, and how long askers wait meanwhile.
enum Purge: Benchmark {
    static let name = "purge"
    static let abstract = "Erasing the texts of many alerts, while another manager asks"

    static func run(_ plan: Plan) async throws -> [Row] {
        var plan = plan
        plan.directory = nil
        let count = plan.alerts / 10
        let queue = try await FilledQueue.make(resolved: count, waiting: 1, plan: plan)
        let manager = try await AlertManager(path: queue.path, source: "bench")
        try await manager.prepareTextSearch()
        let isOver = Mutex(false)
        async let waits = Self.ask(queue.path) { isOver.withLock { $0 } }
        let start = ContinuousClock.now
        // The asker is stopped in any case, even if the purge fails.
        defer { isOver.withLock { $0 = true } }
        let report = try await manager.purge(before: Date())
        let time = (ContinuousClock.now - start).inSeconds
        isOver.withLock { $0 = true }
        let times = try await waits
        await manager.close()
        guard report.isComplete else { throw BenchmarkError("the purge did not complete") }
        return [
            .reference(
                name, "texts erased of \(count) alerts", Double(report.erased) / time, unit: "/s"),
            .reference(name, "an ask of another manager meanwhile, p50", times.median, unit: "µs"),
            .reference(name, "… p99", times.percentile(99), unit: "µs"),
        ]
    }

    /// Asks and withdraws; returns how long each ask took, in microseconds.
    private static func ask(
        _ path: String, until isOver: @Sendable () -> Bool
    ) async throws -> [Double] {
        let manager = try await AlertManager(path: path, source: "meanwhile")
        var times: [Double] = []
        while !isOver() {
            let start = ContinuousClock.now
            let id = try await manager.show(Alert("Meanwhile"))
            times.append((ContinuousClock.now - start).inMicroseconds)
            _ = try await manager.withdraw(id)
        }
        await manager.close()
        return times
    }
}
