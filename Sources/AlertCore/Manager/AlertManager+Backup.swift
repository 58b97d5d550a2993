// Copies of the queue.
extension AlertManager {
    /// Copies the queue into one file, as it is at one moment, while others continue to write.
    ///
    /// The file appears under its name when it is complete, on disk and verified; only its owner may
    /// read it. It is marked as a backup: it can be read and restored, but nothing can be asked or
    /// answered in it.
    /// In a directory it gets a name such as `queue-2026-11-22T10-04-05Z.db`.
    ///
    /// What others write during the copy makes the database's log grow; once the log reaches 48
    /// MiB, new alerts are refused until the copy is done. When the task is cancelled, nothing of
    /// the copy remains.
    ///
    /// ```swift
    /// let report = try await manager.backUp(to: "/var/backups/alertq", keeping: 7)
    /// print(report.path)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file to create, or a directory to create it in.
    ///   - replacesFile: Whether to replace an existing file.
    ///   - count: In a directory, how many backups of this queue to keep: older ones are removed
    ///     once the new one is on disk. At least 1; `nil` keeps all.
    ///   - progress: Called with the number of pages copied and their total.
    /// - Throws: ``AlertError/storage(operation:_:)``, also if the file already exists;
    ///   ``AlertError/invalid(_:_:)`` for a path that is one of the queue's own files, a count
    ///   without a directory, or a copy that does not verify, which is kept under another name;
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/inconsistent(_:_:)``, ``AlertError/closed``.
    public func backUp(
        to path: String, replacingFile replacesFile: Bool = false, keeping count: Int? = nil,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) -> BackupReport {
        guard let store = store as? any Backups else {
            throw .storage(operation: "back up \(self.path)", "its store can't be copied")
        }
        return try await store.backUp(
            to: path, replaces: replacesFile, keeping: count, progress)
    }
}
