import AlertQueue

/// The check of `alertq doctor` that looks at the schema of a queue.
struct SchemaCheckup: Sendable {
    private static let check = "schema"
    let report: SchemaReport
    let path: String

    /// What a look at the schema finds; a problem among it means that the queue can't be opened.
    func findings() -> [Finding] {
        let additions = report.additions.map { object in
            Finding(
                check: Self.check,
                detail: "\(object) is not alertq's; it does no harm", isNote: true)
        }
        guard report.faults.isEmpty else { return report.faults.map(problem) + additions }
        let whole = Finding(check: Self.check, detail: "matches version \(report.version)")
        return [whole] + additions
    }

    private func problem(_ fault: SchemaReport.Fault) -> Finding {
        guard !QueueLocation(path).isOnServer else { return serverProblem(fault) }
        let file = ShellText.quoted(path)
        let (advice, sql): (String, String?) =
            switch fault.remedy {
            case .removal(let statement):
                ("remove it: sqlite3 \(file) \(ShellText.quoted(statement))", nil)
            case .restoration(let statements, let isTextIndex):
                (
                    "put it back with the statements below: sqlite3 \(file)"
                        + (isTextIndex ? ", then: alertq doctor --reindex" : ""), statements
                )
            case .backup: ("go back to a backup: alertq restore BACKUP", nil)
            }
        return Finding(
            check: Self.check, problem: fault.description,
            advice: "find out who may write the file, then " + advice, code: .badData, sql: sql)
    }

    /// The owner of the tables, who alone can have done it, can undo it.
    private func serverProblem(_ fault: SchemaReport.Fault) -> Finding {
        let (advice, sql): (String, String?) =
            switch fault.remedy {
            case .removal(let statement): ("remove it with the statement below", statement)
            case .restoration(let statements, _):
                ("put it back with the statements below", statements)
            case .backup: ("go back to a backup of the server", nil)
            }
        return Finding(
            check: Self.check, problem: fault.description,
            advice: "find out who may act as the owner of the tables, then " + advice,
            code: .badData, sql: sql)
    }
}
