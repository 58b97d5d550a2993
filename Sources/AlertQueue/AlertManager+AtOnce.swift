import AlertCore
import Linux
import SQLiteStore

// What the command does with the files of a queue, without a manager or about one.
extension AlertManager {
    /// Counts the waiting alerts on the calling thread, without a manager; if `nil`, use a manager.
    package static func pendingCountAtOnce(path: String) -> Int? {
        SQLiteAlertStore.pendingCountAtOnce(path: path)
    }

    /// Stores an alert on the calling thread, without a manager.
    ///
    /// It never waits: `nil` means that nothing was stored; use a manager, which waits or reports
    /// the problem.
    package static func submitAtOnce(
        _ alert: Alert, path: String, via: String
    ) throws(AlertError) -> AlertRecord? {
        guard let source = alert.source else { return nil }
        try alert.validate()
        return try SQLiteAlertStore.enqueueAtOnce(
            Question(alert: alert, source: source), by: Caller(via: via), path: path)?.record
    }

    /// The process that currently prevents this one from writing, if there is one and it is
    /// visible.
    package nonisolated var lockHolder: LinuxProcess? { QueueLocks(database: path).writer }
}
