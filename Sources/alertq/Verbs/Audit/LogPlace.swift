import AlertQueue

/// A place in the audit log to go on after.
package struct LogPlace: Sendable {
    package let sequence: Int64
    /// Which entry stands there, where a cursor has told: its number and its hash.
    package let head: AuditHead?

    package static let start = LogPlace(sequence: 0, head: nil)

    /// Makes sure that the log has this place.
    ///
    /// A number beyond its end was mistyped, or comes from another queue, and would hide all that
    /// happens until the log has grown that far. Another entry of the same number shows that the
    /// queue was restored from a backup, or its log written anew: events would be missed.
    ///
    /// - Throws: ``CommandError``.
    package func check(_ manager: AlertManager) async throws {
        guard sequence > 0 else { return }
        try check(end: try await manager.auditHead()?.sequence ?? 0)
        guard let head else { return }
        let found = try await manager.audit(after: sequence - 1, limit: 1).first
        guard found?.event.sequence == sequence, found?.hash == head.hash else {
            throw CommandError(
                .notFound,
                "entry \(sequence) of the log is not the one of \(head.text): the queue was "
                    + "restored from a backup, or the log was rewritten")
        }
    }

    /// Makes sure that a log which ends with an entry has this one; 0 stands for no entry, as where
    /// there is no queue yet.
    package func check(end last: Int64) throws(CommandError) {
        guard sequence <= last else {
            throw CommandError(
                .notFound,
                "there is no entry \(sequence) to go on after: "
                    + (last > 0 ? "the log ends with entry \(last)" : "the log is empty"))
        }
    }
}
