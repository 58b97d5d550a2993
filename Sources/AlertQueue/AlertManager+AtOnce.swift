import AlertCore
import Linux
import SQLiteStore

// What the command does without a manager, or about one, with the files of a queue.
extension AlertManager {
    /// Counts what waits on the calling thread, without a manager; after `nil` one has to do it.
    package static func pendingCountAtOnce(path: String) -> Int? {
        SQLiteAlertStore.pendingCountAtOnce(path: path)
    }

    /// Stores an alert on the calling thread, without a manager.
    ///
    /// Only what goes without waiting is done so: after `nil`, which means that nothing was stored,
    /// a manager does it, or says what is in the way.
    package static func submitAtOnce(
        _ alert: Alert, path: String, via: String
    ) throws(AlertError) -> AlertRecord? {
        guard let source = alert.source else { return nil }
        try alert.validate()
        return try SQLiteAlertStore.enqueueAtOnce(
            Question(alert: alert, source: source), by: Caller(via: via), path: path)?.record
    }

    /// The process that keeps this one from writing just now, if there is one and it can be seen.
    package nonisolated var lockHolder: LinuxProcess? { QueueLocks(database: path).writer }
}
