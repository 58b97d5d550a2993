import AlertQueue
import TextFormats

/// `alertq audit verify`: recomputes the log's chain.
struct AuditVerifyCommand: Command {
    static let name = "audit verify"
    static let abstract = "Check that the audit log has not been changed"
    static let options: [Option<Self>] = [
        Option(
            "head", .auditHead, \.head,
            help: "A head printed earlier, which must still be in the log"),
        Option(
            "receipt", .path("FILE", ifEmpty: "the path of the receipt is empty"), \.receipt,
            help: "Check a receipt instead, without the queue; - is the standard input"),
    ]
    static let discussion = [
        """
        A hash chain alone can't show that its end was cut off: keep the output of `alertq audit \
        head` elsewhere, and give it to --head. If the log does not verify, the exit code is 65.
        """,
        """
        With --receipt it checks what `alertq receipt` has printed: that its entries have their \
        hashes and their places in the chain, and that the question and the answer are those of \
        the entries. It prints what the receipt says; with --json an object for each, with the keys \
        “verifies”, “alert”, “entries”, “head” and “problems”, which are sentences. Without --head, \
        somebody could have made all of it: give a head that was kept elsewhere, which must be in \
        its chain after the last entry about the alert, or compare the head that is printed.
        """,
        """
        Problems in spite of which a backup was restored are known, and don't count: restore \
        --force has named them in the log.
        """,
        """
        With --json the object has the keys “verifies”, “entries”, “head” as audit head prints it, \
        “problems”, each with “sequence”, “alert” and “reason”, “known”, with known ones, and \
        “known_since”, the entry of the restore.
        """,
    ]

    var common = QueueOptions()
    /// A head that was kept elsewhere.
    private(set) var head: AuditHead?
    private var receipt: String?

    func run(in context: Context) async throws -> ExitCode {
        if let receipt { return try check(receipt: receipt, in: context) }
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
        for problem in report.problems.prefix(100) { context.note(problem.reason) }
        if report.problems.count > 100 {
            context.note("and \(report.problems.count - 100)\(report.isFull ? " or" : "") more")
        }
        guard report.problems.isEmpty else {
            context.note("\(Self.name): the log does not verify")
            return .badData
        }
        return .done
    }

    static func summary(_ report: AuditReport) -> String {
        let entries = report.entries == 1 ? "1 entry verifies" : "\(report.entries) entries verify"
        guard let since = report.knownSince else { return entries }
        let problems = report.known.count == 1 ? "1 problem" : "\(report.known.count) problems"
        return "\(entries); \(problems) known since entry \(since)"
    }

    static func json(_ problems: [AuditReport.Problem]) -> JSONValue {
        .array(
            problems.map { problem in
                .object([
                    ("sequence", .optional(problem.sequence)),
                    ("alert", .optional(problem.alertID)), ("reason", .string(problem.reason)),
                ])
            })
    }

    private static func json(_ report: AuditReport) -> JSONValue {
        .object([
            ("verifies", .bool(report.problems.isEmpty)), ("entries", .integer(report.entries)),
            ("head", .optional(report.head?.text)), ("problems", json(report.problems)),
            ("known", json(report.known)), ("known_since", .optional(report.knownSince)),
        ])
    }
}
