// Copies of the queue.
extension AlertManager {
    /// Copies the queue into one file, as it is at one moment, while others go on writing.
    ///
    /// The file appears under its name when it is complete and on the disk; only its owner may read
    /// it. In a directory it gets a name such as `queue-2026-11-22T10-04-05Z.db`.
    ///
    /// Others go on meanwhile; but the queue's log grows by what they write, and from 48 MiB of log
    /// on new alerts are refused until the copy is done. When the task is cancelled, nothing is
    /// left of it.
    ///
    /// ```swift
    /// let report = try await manager.backUp(to: "/var/backups/alertq", keeping: 7)
    /// print(report.path)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file to make, or a directory to make it in.
    ///   - replacesFile: Whether a file that exists is replaced.
    ///   - count: In a directory, how many backups of this queue are kept: older ones are removed
    ///     once the new one is on the disk. From 1 on; `nil` keeps all.
    ///   - progress: Hears how many of how many pages are copied.
    /// - Throws: ``AlertError/storage(operation:_:)``, also where there is a file already;
    ///   ``AlertError/invalid(_:_:)`` for a path that is one of the queue's own files, or a count
    ///   without a directory; ``AlertError/notPermitted(path:_:)``, ``AlertError/busy(_:)``,
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
