import AlertQueue

/// Says on stderr for what a command waits while another process rewrites the database, as a purge
/// does at its end: that may take minutes.
enum RewriteNote {
    /// A change is usually stored within milliseconds.
    private static let delay = Duration.seconds(1)

    /// Runs a closure that stores something.
    static func whileStoring<Result, Failure: Error>(
        in manager: AlertManager, _ context: Context, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let note = Task.detached {
            // Cancelled when it is stored.
            while (try? await Task.sleep(for: delay)) != nil {
                guard let holder = manager.lockHolder, holder.isRewriting else { continue }
                context.inform(
                    "waiting until \(holder.process) has rewritten the database for a purge")
                return
            }
        }
        defer { note.cancel() }
        return try await body()
    }
}
