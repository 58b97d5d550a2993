import AlertQueue
import Linux
import SQLite
import SQLiteStore

/// How much of the write-ahead log each operation takes: what a disk has to write for it.
///
/// The index of texts is written later, by a transaction for about a thousand responses, and stands
/// in a row of its own.
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
        var indexPages = 0.0
        let pages = { (operation: (Int) async throws -> Void) in
            let batches = try await Self.batches(queue.path, count, operation)
            // A batch in which texts were indexed is far above the others.
            let typical = batches.median
            indexPages += batches.filter { $0 > 1.5 * typical }.reduce(0) { $0 + $1 - typical }
            return typical
        }
        var ids: [Alert.ID] = []
        let asks = try await pages { number in
            var alert = DurableAsk.question
            alert.key = "key-\(number)"
            alert.deadline = .after(.seconds(3600))
            let question = Question(alert: alert, source: "bench", pendingLimit: .max)
            ids.append(try await store.enqueue(question, by: .bench).record.id)
        }
        let answers = try await pages { number in
            _ = try await store.resolve(ids[number], .choose(button: 0), by: person)
        }
        let collections = try await pages { number in
            _ = try await store.commit(.collect(ids[number], because: nil), by: .bench)
        }
        let notices = try await pages { number in
            let question = Question(
                alert: Alert("Backup \(number) is done"), source: "bench", pendingLimit: .max)
            _ = try await store.enqueue(question, by: .bench)
        }
        await store.close()
        return [
            .reference(name, "an ask with a key and a deadline", asks, unit: "pages"),
            .reference(name, "a notice", notices, unit: "pages"),
            .reference(name, "an answer", answers, unit: "pages"),
            .reference(
                name, "… and the index of its texts, later",
                indexPages * Double(batch) / Double(count), unit: "pages"),
            .reference(name, "a collection", collections, unit: "pages"),
        ]
    }

    /// How many operations are measured together.
    private static let batch = 100

    /// The pages that an operation writes, as the mean of each batch.
    ///
    /// A reader keeps the log from being reused, so that it grows by what is written; but only for
    /// a batch, because a log that can't be reused is refused at last.
    private static func batches(
        _ path: String, _ count: Int, _ operation: (Int) async throws -> Void
    ) async throws -> [Double] {
        let reader = try Database(path: path)
        reader.busyMilliseconds = 5000
        var pages: [Double] = []
        for start in stride(from: 0, to: count, by: batch) {
            // The store may be copying the log itself.
            while try !reader.checkpoint(.truncate) {
                try await Task.sleep(for: .milliseconds(10))
            }
            try reader.run("BEGIN")
            _ = try reader.first("SELECT max(id) FROM alerts") { $0.integer() }
            let numbers = start..<min(start + batch, count)
            for number in numbers { try await operation(number) }
            // Each page has a header: <https://sqlite.org/fileformat2.html#walformat>.
            let size = Double(FileIdentity.size(of: path + "-wal"))
            pages.append(size / Double(numbers.count) / (4096 + 24))
            try reader.run("COMMIT")
        }
        return pages
    }
}
