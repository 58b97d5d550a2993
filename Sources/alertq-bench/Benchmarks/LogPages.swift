import AlertQueue
import Linux
import SQLite
import SQLiteStore

/// How much of the write-ahead log each operation takes: what a disk has to write for it.
enum LogPages: Benchmark {
    static let name = "pages"
    static let abstract = "Pages of 4 KiB that an operation writes to the log, in a filled queue"

    static func run(_ plan: Plan) async throws -> [Row] {
        let queue = try await FilledQueue.make(
            resolved: plan.alerts / 10, waiting: plan.count(1000), plan: plan)
        let store = try await SQLiteAlertStore.open(path: queue.path)
        try await store.rebuildTextIndex { _, _ in }
        let count = plan.count(1000)
        let person = Caller(via: "terminal")
        let mean = { (operation: (Int) async throws -> Void) in
            try await Self.mean(queue.path, count, operation)
        }
        var ids: [Alert.ID] = []
        let asks = try await mean { number in
            var alert = DurableAsk.question
            alert.key = "key-\(number)"
            alert.deadline = .after(.seconds(3600))
            let question = Question(alert: alert, source: "bench", pendingLimit: .max)
            ids.append(try await store.enqueue(question, by: .bench).record.id)
        }
        let answers = try await mean { number in
            _ = try await store.resolve(ids[number], .choose(button: 0), by: person)
        }
        let collections = try await mean { number in
            _ = try await store.commit(.collect(ids[number], unused: nil), by: .bench)
        }
        let notices = try await mean { number in
            let question = Question(
                alert: Alert("Backup \(number) is done"), source: "bench", pendingLimit: .max)
            _ = try await store.enqueue(question, by: .bench)
        }
        await store.close()
        return [
            .reference(name, "an ask with a key and a deadline", asks, unit: "pages"),
            .reference(name, "a notice", notices, unit: "pages"),
            .reference(name, "an answer", answers, unit: "pages"),
            .reference(name, "a collection", collections, unit: "pages"),
        ]
    }

    /// The mean of the pages that an operation writes.
    ///
    /// A reader keeps the log from being reused, so that it grows by what is written; but only for
    /// some operations at a time, because a log that can't be reused is refused at last.
    private static func mean(
        _ path: String, _ count: Int, _ operation: (Int) async throws -> Void
    ) async throws -> Double {
        let reader = try Database(path: path)
        reader.busyMilliseconds = 5000
        var bytes: Int64 = 0
        for start in stride(from: 0, to: count, by: 100) {
            // The store may be copying the log itself.
            while try !reader.checkpoint(.truncate) {
                try await Task.sleep(for: .milliseconds(10))
            }
            try reader.run("BEGIN")
            _ = try reader.first("SELECT max(id) FROM alerts") { $0.integer() }
            for number in start..<min(start + 100, count) { try await operation(number) }
            bytes += FileIdentity.size(of: path + "-wal")
            try reader.run("COMMIT")
        }
        // Each page has a header: <https://sqlite.org/fileformat2.html#walformat>.
        return Double(bytes) / Double(count) / (4096 + 24)
    }
}
