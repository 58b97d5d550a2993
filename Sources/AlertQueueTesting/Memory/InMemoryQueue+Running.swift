import AlertCore

extension InMemoryQueue {
    mutating func run(
        _ id: Alert.ID, _ step: RunStep, _ write: InMemoryWrite
    ) throws(AlertError) -> Receipt {
        guard let alert = alert(id) else { throw .notFound(id) }
        var receipt = Receipt(
            record: alert.record, isNew: log.hasStartedRun(id), sequence: log.head.sequence)
        var content: [UInt8]?
        if case .started(let allowsDefault) = step {
            receipt.isNew = alert.response?.allowsRun(byDefault: allowsDefault) == true
            if receipt.isNew { receipt = try collect(id, write) }
            content = alert.content
        }
        guard receipt.isNew else { return receipt }
        log.append(
            AuditDraft(
                kind: .ran, record: alert.record, content: content,
                detail: EntryDetail.ran(step)), write)
        receipt.sequence = log.head.sequence
        return receipt
    }
}
