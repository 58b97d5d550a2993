import AlertQueue

/// An entry of the audit log to continue after.
struct AuditCursor: Sendable {
    /// The entry's number; 0 for the beginning of the log.
    let sequence: Int64
    /// The entry's number and its hash, where both were given.
    let head: AuditHead?

    static let start = AuditCursor(sequence: 0, head: nil)

    /// Makes sure that the log has this entry.
    ///
    /// A number beyond its end was mistyped, or comes from another queue, and would hide all that
    /// happens until the log has grown that far. Another entry of the same number shows that the
    /// queue was restored from a backup, or its log rewritten: events would be missed.
    ///
    /// - Throws: ``CommandError``.
    func check(_ manager: AlertManager) async throws {
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

    /// Makes sure that a log which ends with an entry has this one; 0 means no entry, as where
    /// there is no queue yet.
    func check(end last: Int64) throws(CommandError) {
        guard sequence <= last else {
            throw CommandError(
                .notFound,
                "there is no entry \(sequence) to continue after: "
                    + (last > 0 ? "the log ends with entry \(last)" : "the log is empty"))
        }
    }
}

extension Argument where Value == AuditCursor {
    /// An entry's number, or its number and its hash as `audit list --json` prints them.
    static var auditCursor: Argument {
        Argument("CURSOR") { text throws(UsageError) in
            if let head = AuditHead(text) {
                return AuditCursor(sequence: head.sequence, head: head)
            }
            guard let number = Int64(text), number >= 0 else {
                throw UsageError(
                    "“\(text)” is neither the number of an entry of the audit log nor a cursor")
            }
            return AuditCursor(sequence: number, head: nil)
        }
    }
}
