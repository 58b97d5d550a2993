import AlertQueue
import FoundationEssentials
import Synchronization

/// How fast old texts are erased, and how long asking and answering take meanwhile, of which the
/// rewriting of the file at the end stops everything.
enum Purge: Benchmark {
    static let name = "purge"
    static let abstract = "Erasing the texts of many alerts, while another manager asks and answers"

    static func run(_ plan: Plan) async throws -> [Row] {
        var plan = plan
        plan.directory = nil
        let count = plan.alerts / 10
        let queue = try await FilledQueue.make(resolved: count, waiting: 1, plan: plan)
        let manager = try await AlertManager(path: queue.path, source: "bench")
        try await manager.rebuildTextIndex { _, _ in }
        let isOver = Mutex(false)
        async let waits = Self.ask(queue.path) { isOver.withLock { $0 } }
        let start = ContinuousClock.now
        let rewriting = Mutex<(start: ContinuousClock.Instant, end: ContinuousClock.Instant)?>(nil)
        // The asker is stopped in any case, even if the purge fails.
        defer { isOver.withLock { $0 = true } }
        // The queue was filled with times of its own.
        let report = try await manager.purge(before: Date(), force: true) { progress in
            guard progress.phase == .file else { return }
            let now = ContinuousClock.now
            rewriting.withLock { $0 = ($0?.start ?? now, now) }
        }
        let time = (ContinuousClock.now - start).inSeconds
        isOver.withLock { $0 = true }
        let (asks, answers) = try await waits
        await manager.close()
        guard report.isComplete, let rewriting = rewriting.withLock({ $0 }) else {
            throw BenchmarkError("the purge did not complete")
        }
        let meanwhile = [("an ask", asks), ("an answer", answers)].flatMap { what, times in
            [
                Row.reference(name, "\(what) meanwhile, p50", times.median, unit: "µs"),
                .reference(name, "… p99", times.percentile(99), unit: "µs"),
                .reference(name, "… worst", (times.max() ?? .nan) / 1000, unit: "ms"),
            ]
        }
        return [
            .reference(
                name, "texts erased of \(count) alerts", Double(report.erased) / time, unit: "/s"),
            .reference(
                name, "of this, rewriting the file",
                (rewriting.end - rewriting.start).inSeconds, unit: "s"),
        ] + meanwhile
    }

    /// Asks and answers in turn; returns how long each took, in microseconds.
    private static func ask(
        _ path: String, until isOver: @Sendable () -> Bool
    ) async throws -> (asks: [Double], answers: [Double]) {
        let manager = try await AlertManager(path: path, source: "meanwhile")
        var (asks, answers): ([Double], [Double]) = ([], [])
        let question = Alert("Meanwhile", buttons: ["Yes", .cancel("No")])
        while !isOver() {
            let start = ContinuousClock.now
            let id = try await manager.show(question)
            let asked = ContinuousClock.now
            _ = try await manager.answer(id, button: "Yes")
            asks.append((asked - start).inMicroseconds)
            answers.append((ContinuousClock.now - asked).inMicroseconds)
            // The lock is not fair, and no program asks without a pause.
            try await Task.sleep(for: .milliseconds(1))
        }
        await manager.close()
        return (asks, answers)
    }
}
