import AlertCore
import SQLite

extension Database {
    /// The result of asking again with the same key.
    func join(
        _ row: AlertRow, _ question: Question, sequence: Int64
    ) throws -> Receipt {
        var (record, asked) = (row.record, question.alert)
        let isErased = row.salt == nil
        let digest = isErased ? try keyDigest(of: row) : nil
        let part =
            isErased
            ? try differenceFromErased(row, asked, digest)
            : asked.firstDifference(from: record.alert)
        if let part { throw AlertError.keyConflict(asked.key ?? "", record.id, part: part) }
        // The digest has shown that these are the texts that were erased.
        if digest != nil { record.restoreTexts(from: asked) }
        return Receipt(record: record, expiry: row.expiry, sequence: sequence)
    }

    /// The first part of a question that differs from an alert whose texts have been erased, as far
    /// as the log still shows.
    private func differenceFromErased(
        _ row: AlertRow, _ asked: Alert, _ digest: KeyDigest?
    ) throws -> String? {
        let (id, left) = (row.record.id, row.record.alert)
        let difference = asked.firstDifference(fromErased: left)
        let source = row.record.source.name
        guard let digest else { return difference }
        guard KeyDigest(of: asked, source: source, salt: digest.salt)?.hash == digest.hash else {
            return difference ?? "text"
        }
        // It is the same question, so this can't differ.
        guard difference == nil else {
            throw AlertError.inconsistent(id, "its \(difference ?? "") is not what was asked")
        }
        return nil
    }
}
