import AlertQueue
import SQLiteStore

/// The check of `alertq doctor` that looks at the schema of a queue's file, and its repair.
struct SchemaCheckup: Sendable {
    private static let check = "schema"
    let path: String

    /// What a look at the schema finds; a problem among it means that the queue can't be opened.
    func findings() async throws(AlertError) -> [Finding] {
        guard let report = try await QueueSchema(database: path).report() else { return [] }
        let additions = report.additions.map { object in
            Finding(
                check: Self.check,
                detail: "\(object.subject) is not alertq's; it does no harm", isNote: true)
        }
        guard report.faults.isEmpty else { return report.faults.map(problem) + additions }
        let whole = Finding(check: Self.check, detail: "matches version \(report.version)")
        return [whole] + additions
    }

    /// Restores alertq's own objects, and reports what is left.
    func repaired() async throws(AlertError) -> [Finding] {
        let mended = try await QueueSchema(database: path).repair().map { fault in
            Finding(check: Self.check, detail: "\(fault.object.subject) was restored")
        }
        return mended + (try await findings())
    }

    private func problem(_ fault: SchemaFault) -> Finding {
        let advice =
            fault.removal.map {
                "find out who may write the file, then remove it: sqlite3 "
                    + "\(ShellText.quoted(path)) \(ShellText.quoted($0))"
            } ?? "find out who may write the file, then repair it: alertq doctor --repair"
        return Finding(
            check: Self.check, problem: fault.description, advice: advice, code: .badData)
    }
}
