import Linux

/// What can be found out about a queue, and done with it, even if it is missing or can't be opened.
package protocol QueueAdministration: Sendable {
    /// Another process whose screen leads without saying who it is, if that process is visible.
    var unknownLeader: LinuxProcess? { get async }

    /// Whether a path leads to one of the queue's own files, or would if it existed.
    func isOwnFile(_ path: String) -> Bool

    /// Checks what the queue is kept on: its server, or its disk, files and locks.
    nonisolated(nonsending) func findings() async -> [Finding]

    /// Compares the queue's schema with the one that this version makes; nothing is written.
    ///
    /// - Returns: What was found, of which a problem may mean that the queue can't be opened; nothing
    ///   if there is no queue yet.
    nonisolated(nonsending) func schema() async throws(AlertError) -> [Finding]

    /// Replaces the queue with a backup, once that is verified; no store in this process may have
    /// the queue open.
    ///
    /// If the process is killed at any moment, the queue is either still the old one, intact, or
    /// already the one from the backup.
    ///
    /// - Parameters:
    ///   - backup: The file of the backup.
    ///   - head: A head that must be part of the backup's log.
    ///   - force: Whether the queue may lose entries that are not in the backup, whether an
    ///     unreadable queue is replaced, and whether the backup's log may contradict alerts and
    ///     entries, which the new queue's log then names.
    ///   - caller: Who restores, for the audit log.
    ///   - progress: Called with the current step, how much of it is done, and the total.
    /// - Throws: ``AlertError/invalid(_:_:)`` if the file is not a backup, or does not verify;
    ///   ``AlertError/notPermitted(path:_:)`` with a reason that ends with
    ///   ``RestoreReport/lossReason`` if the queue would lose entries;
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``.
    nonisolated(nonsending) func restore(
        _ backup: String, expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport
}
