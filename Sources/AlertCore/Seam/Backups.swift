/// A store that can copy its queue into one file.
package protocol Backups: Sendable {
    /// Copies the queue as it is at one moment, while others write, into a file that is complete
    /// when it appears.
    ///
    /// - Parameters:
    ///   - path: The file, or a directory in which it gets a name with its time.
    ///   - replaces: Whether an existing file may be replaced.
    ///   - count: How many files of such names the directory may keep.
    ///   - progress: Called with the number of pages copied and their total.
    nonisolated(nonsending) func backUp(
        to path: String, replaces: Bool, keeping count: Int?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> BackupReport
}
