import AlertQueue
import SQLiteStore

/// The check of `alertq doctor` that looks at the schema of a queue's file.
struct SchemaCheckup: Sendable {
    private static let check = "schema"
    let path: String

    /// What a look at the schema finds; a problem among it means that the queue can't be opened.
    func findings() async throws(AlertError) -> [Finding] {
        guard let report = try await SchemaReport.read(from: path) else { return [] }
        let additions = report.additions.map { object in
            Finding(
                check: Self.check,
                detail: "\(object.subject) is not alertq's; it does no harm", isNote: true)
        }
        guard report.faults.isEmpty else {
            // The tables of the search index come back with it.
            let hasIndex = !report.faults.contains { $0.object.name == "text_index" }
            return report.faults.filter { hasIndex || !$0.object.isPartOfTextIndex }.map(problem)
                + additions
        }
        let whole = Finding(check: Self.check, detail: "matches version \(report.version)")
        return [whole] + additions
    }

    private func problem(_ fault: SchemaReport.Fault) -> Finding {
        let look = "find out who may write the file, then "
        if let removal = fault.removal {
            return Finding(
                check: Self.check, problem: fault.description,
                advice: look + "remove it: sqlite3 \(ShellText.quoted(path)) "
                    + ShellText.quoted(removal), code: .badData)
        }
        guard let statements = fault.restoration else {
            return Finding(
                check: Self.check, problem: fault.description,
                advice: look + "go back to a backup: alertq restore BACKUP", code: .badData)
        }
        let isIndex = fault.object.name == "text_index"
        return Finding(
            check: Self.check, problem: fault.description,
            advice: look + "put it back with the statements below: sqlite3 "
                + ShellText.quoted(path) + (isIndex ? ", then: alertq doctor --reindex" : ""),
            code: .badData, sql: statements)
    }
}
