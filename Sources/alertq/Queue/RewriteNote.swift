import AlertQueue
import SQLiteStore

/// Says on stderr for what a command waits while another process rewrites the database, as a purge
/// does at its end: that may take minutes.
enum RewriteNote {
    /// A change is usually stored within milliseconds.
    private static let delay = Duration.seconds(1)

    /// Runs a closure that stores something.
    static func whileStoring<Result, Failure: Error>(
        in path: String, _ context: Context, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let note = Task.detached {
            // Cancelled when it is stored.
            while (try? await Task.sleep(for: delay)) != nil {
                let locks = QueueLocks(database: path)
                guard locks.isWriterRewriting, let writer = locks.writer else { continue }
                context.inform("waiting until \(writer) has rewritten the database for a purge")
                return
            }
        }
        defer { note.cancel() }
        return try await body()
    }
}
