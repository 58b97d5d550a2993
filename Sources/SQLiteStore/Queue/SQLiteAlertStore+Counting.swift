import AlertCore
import Linux

extension SQLiteAlertStore {
    /// Counts what waits on the calling thread, without a store and its threads, as a shell's
    /// prompt wants it.
    ///
    /// Only what goes without waiting is done: after `nil` a store counts, or says what is in the
    /// way.
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
