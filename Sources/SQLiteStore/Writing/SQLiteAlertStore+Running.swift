import AlertCore
import SQLite

extension SQLiteAlertStore {
    nonisolated(nonsending) func storeRun(
        _ id: Alert.ID, _ step: RunStep, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        try await commits.perform(.answer, "log the command") { context in
            guard let row = try context.db.checkedAlert(id) else { throw AlertError.notFound(id) }
            var isNew: Bool
            var content: [UInt8]?
            if case .started(let allowsDefault) = step {
                isNew =
                    try row.record.response?.allowsRun(byDefault: allowsDefault) == true
                    && context.collect(id, by: caller)
                content = row.content
            } else {
                // Only what was started can end.
                isNew = try context.db.hasStartedRun(id)
            }
            if isNew {
                try context.audit(
                    AuditDraft(
                        kind: .ran, record: row.record, content: content,
                        detail: EntryDetail.ran(step)), by: caller)
            }
            guard let row = try context.db.alert(id) else { throw AlertError.notFound(id) }
            return Receipt(record: row.record, isNew: isNew, sequence: context.head.sequence)
        }
    }
}

extension Database {
    /// Whether the log has the start of a command that an alert allowed.
    fileprivate func hasStartedRun(_ id: Alert.ID) throws -> Bool {
        try first(
            "SELECT 1 FROM audit WHERE alert_id = ? AND event = 'ran' LIMIT 1", .integer(id)
        ) { _ in true } ?? false
    }
}
