import AlertCore

extension SQLiteAlertStore {
    nonisolated(nonsending) func storeRun(
        _ id: Alert.ID, _ step: RunStep, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        try await commits.perform(.answer, "log the command") { context in
            guard let row = try context.db.checkedAlert(id) else { throw AlertError.notFound(id) }
            let response = row.record.response
            var isNew = response?.collectedAt != nil
            var content: [UInt8]?
            if case .started(let allowsDefault) = step {
                isNew =
                    try response?.allowsRun(byDefault: allowsDefault) == true
                    && context.collect(id, by: caller)
                content = row.content
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
