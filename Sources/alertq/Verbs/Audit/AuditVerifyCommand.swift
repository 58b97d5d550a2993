import AlertQueue

/// `alertq audit verify`: recomputes the log's chain.
struct AuditVerifyCommand: Command {
    static let name = "audit verify"
    static let abstract = "Check that the audit log has not been changed"
    static let options: [Option<Self>] = [
        Option(
            "head", .auditHead, \.head,
            help: "A head printed earlier, which must still be in the log")
    ]
    static let discussion = [
        """
        A hash chain alone can't show that its end was cut off: keep the output of `alertq audit \
        head` elsewhere, and give it to --head. If the log does not verify, the exit code is 65.
        """,
        """
        With --json the object has the keys “verifies”, “entries”, “head” as audit head prints it, \
        and “problems”, each with “sequence”, “alert” and “reason”.
        """,
    ]

    var common = QueueOptions()
    private var head: AuditHead?

    func run(in context: Context) async throws -> ExitCode {
        let found = try await ProgressBar.during("verifying", in: context) { bar in
            try await queue.read(in: context) { manager in
                try await manager.verifyAudit(expecting: head) { bar.show($0, of: $1) }
            }
        }
        // A missing log must not pass for one that continues from a head.
        if found == nil, head != nil { throw queue.noQueue }
        if found == nil { context.note("there is no queue at \(queue.path) yet") }
        let report = found ?? AuditReport()
        if isJSON {
            try context.print(Self.json(report).text())
        } else if report.problems.isEmpty {
            try context.print(Self.summary(report))
        }
        for problem in report.problems { context.note(problem.reason) }
        guard report.problems.isEmpty else {
            context.note("\(Self.name): the log does not verify")
            return .badData
        }
        return .done
    }

    static func summary(_ report: AuditReport) -> String {
        report.entries == 1 ? "1 entry verifies" : "\(report.entries) entries verify"
    }

    private static func json(_ report: AuditReport) -> JSONValue {
        let problems = report.problems.map { problem in
            JSONValue.object([
                ("sequence", .optional(problem.sequence)), ("alert", .optional(problem.alertID)),
                ("reason", .string(problem.reason)),
            ])
        }
        return .object([
            ("verifies", .bool(report.problems.isEmpty)), ("entries", .integer(report.entries)),
            ("head", .optional(report.head?.text)), ("problems", .array(problems)),
        ])
    }
}
