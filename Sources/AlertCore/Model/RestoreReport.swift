/// The result of a restore.
package struct RestoreReport: Sendable {
    /// The end of the restored queue's log.
    package var head = AuditHead.start
    /// The end of the backup's log.
    package let backup: AuditHead?
    /// The files in which the replaced queue is kept, its database first; none if there was no
    /// queue.
    package var kept: [String] = []
    /// The end of the replaced queue's log; `nil` if there was none, or it could not be read.
    package var replaced: AuditHead?
    /// How many entries of the replaced queue are not in the restored one; `nil` if it could not be
    /// read.
    package var left: Int64? = 0
    /// Whether a backup had been copied over the queue before: what the queue had then is unknown.
    package var wasOverwritten = false
    /// The id that the next alert gets.
    package var nextAlert: Int64 = 0
    /// What the backup's log contradicts; empty if it verifies.
    package let problems: [AuditReport.Problem]

    package init(backup: AuditHead?, problems: [AuditReport.Problem]) {
        self.backup = backup
        self.problems = problems
    }

    /// The current step, for progress reports.
    package enum Phase: Sendable {
        case copying
        case verifying
    }

    /// How the reason ends for which a queue with newer entries is not replaced without force.
    package static let lossReason = "not in the backup, and would leave the queue"
}
