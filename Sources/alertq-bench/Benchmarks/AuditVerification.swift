import AlertQueue
import SQLiteStore

/// How fast the audit log verifies, with every entry compared with its row.
enum AuditVerification: Benchmark {
    static let name = "verify"
    static let abstract = "Entries of the audit log that verify in a second"

    static func run(_ plan: Plan) async throws -> [Row] {
        // Four entries or three for each alert: its asking, showing, answer and collection.
        let alerts = plan.isSmall ? 500 : 263_158
        let queue = try await FilledQueue.make(
            resolved: alerts, waiting: 0, entriesPerAlert: 4, plan: plan)
        var rates: [Double] = []
        var entries: Int64 = 0
        for _ in 0..<plan.rounds {
            let store = try await SQLiteAlertStore.open(path: queue.path)
            let start = ContinuousClock.now
            let report = try await store.verify(expecting: nil)
            let elapsed = ContinuousClock.now - start
            await store.close()
            guard report.problems.isEmpty else {
                throw BenchmarkError("the log does not verify: \(report.problems[0].reason)")
            }
            entries = report.entries
            rates.append(Double(entries) / elapsed.inSeconds)
        }
        return [.speed(name, "\(entries) entries", rates.median, atLeast: 150_000)]
    }
}
