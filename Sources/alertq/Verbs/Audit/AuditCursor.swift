import AlertQueue

/// An entry of the audit log to continue after, as a command line names it.
enum AuditCursor: Sendable {
    /// The entry with this number; 0 for the beginning of the log.
    case number(Int64)
    /// The entry with this number and this hash.
    case entry(AuditHead)

    /// The entry in the log of a queue.
    ///
    /// - Throws: ``AlertError/unknownCursor(_:end:)`` if the log doesn't have it. A number beyond
    ///   its end was mistyped, or comes from another queue, and would hide all that happens until
    ///   the log has grown that far.
    func head(in manager: AlertManager) async throws(AlertError) -> AuditHead {
        switch self {
        case .number(0): return .start
        case .number(let number): return try await manager.auditEntry(number).event.cursor
        case .entry(let head):
            _ = try await manager.audit(after: head, limit: 1)
            return head
        }
    }

    /// Makes sure that it fits where there is no queue yet.
    ///
    /// - Throws: ``AlertError/unknownCursor(_:end:)`` unless it is the beginning of the log.
    func checkWithoutLog() throws(AlertError) {
        let head =
            switch self {
            case .number(let number): AuditHead(sequence: number, hash: [])
            case .entry(let head): head
            }
        guard head.sequence == 0 else { throw .unknownCursor(head, end: 0) }
    }
}

extension Argument where Value == AuditCursor {
    /// An entry's number, or its number and its hash as `audit list --json` prints them.
    static var auditCursor: Argument {
        Argument("CURSOR") { text throws(UsageError) in
            if let head = AuditHead(text) { return .entry(head) }
            guard let number = Int64(text), number >= 0 else {
                throw UsageError(
                    "“\(text)” is neither the number of an entry of the audit log nor a cursor")
            }
            return .number(number)
        }
    }
}
