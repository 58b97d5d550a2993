import AlertCore

/// The result of a restore.
package struct RestoreReport: Sendable {
    /// The end of the restored queue's log.
    package let head: AuditHead
    /// The end of the backup's log.
    package let backup: AuditHead?
    /// The files in which the replaced queue is kept, its database first; none if there was no
    /// queue.
    package let kept: [String]
    /// The end of the replaced queue's log; `nil` if there was none, or it could not be read.
    package let replaced: AuditHead?
    /// How many entries of the replaced queue are not in the restored one; `nil` if it could not be
    /// read.
    package let left: Int64?
    /// Whether a backup had been copied over the queue before: what the queue had then is unknown.
    package let wasOverwritten: Bool
    /// The id that the next alert gets.
    package let nextAlert: Int64
}
