import AlertCore
import Linux

extension SQLiteAlertStore {
    /// Counts the waiting alerts on the calling thread, without a store and its threads, for use in
    /// a shell prompt.
    ///
    /// It never waits: if it returns `nil`, open a store, which counts or reports the problem.
    package static func pendingCountAtOnce(
        path: String, clock: any AlertClock = .system
    ) -> Int? {
        guard let files = try? QueueFiles(database: path),
            FileIdentity(path: files.database) != nil,
            let database = try? DatabaseFile(files: files).openExisting(continuing: .start)
        else { return nil }
        return try? database.handle.pendingCount(at: clock.now())
    }
}
