import AlertQueue
import TextFormats

/// `alertq audit export`: the log as JSON Lines, for independent verifiers.
struct AuditExportCommand: AuditReadingCommand {
    static let name = "audit export"
    static let abstract = "Print the whole audit log as JSON Lines, for independent verifiers"
    static let options: [Option<Self>] = [.after]
    static let discussion = [
        """
        Each line is an object with exactly the values that the entry's hash covers, in their \
        order: “seq”, “at_ms” (since 1970, in UTC), “event”, “alert_id”, “source”, “outcome”, \
        “button_index”, “button_role”, “resolved_by”, “principal”, “user”, “login_uid”, “session”, \
        “via”, “tty”, “ssh”, “means”, “host”, “boot”, “pid”, “content”, “detail” and “previous”; then “hash”. \
        Numbers are JSON numbers, hashes are in hexadecimal, and absent values are null. Texts of \
        alerts are not in the log.
        """,
        """
        The hash is the SHA-256 of “alertq-audit-1” and these values as netstrings; the article \
        “How the audit log is chained” explains how to compute it. A hash chain can't show that \
        its end was cut off: give the verifier the output of audit head. To continue an earlier \
        export, give its last number to --after.
        """,
    ]

    /// How many entries are in memory at a time.
    private static let pageSize = 500

    var common = QueueOptions()
    var after: AuditCursor?

    func run(in context: Context) async throws -> ExitCode {
        let isDone = try await ProgressBar.during("exporting", in: context) { bar in
            try await queue.read(in: context) { manager in
                try await export(manager, bar, to: context.output)
                return true
            }
        }
        if isDone == nil { try start.checkWithoutLog() }
        return .done
    }

    private func export(
        _ manager: AlertManager, _ bar: ProgressBar, to output: Output
    ) async throws {
        let start = try await start.head(in: manager)
        // Entries that are written while it runs belong to the next export.
        let last = try await manager.auditHead()?.sequence ?? 0
        var done = start
        while done.sequence < last, !Task.isCancelled {
            let size = Int(min(Int64(Self.pageSize), last - done.sequence))
            let page = try await manager.audit(after: done, limit: size)
            guard let end = page.last?.event.cursor else { return }
            try output.write(page.map { try Self.line($0) + "\n" }.joined())
            done = end
            // Where the lines themselves are on the screen, a bar would only be in the way.
            if !output.isTerminal {
                bar.show(Int(done.sequence - start.sequence), of: Int(last - start.sequence))
            }
        }
    }

    /// The values that an entry's hash covers, in its order, and the hash.
    static func line(_ entry: AuditEntry) throws -> String {
        let (event, by) = (entry.event, entry.event.responder)
        return try JSONValue.object([
            ("seq", .integer(event.sequence)),
            ("at_ms", .integer(Timestamp.milliseconds(event.at))),
            ("event", .string(event.kind.rawValue)), ("alert_id", .optional(event.alertID)),
            ("source", .optional(event.source)), ("outcome", .optional(event.outcome?.rawValue)),
            ("button_index", .optional(event.buttonIndex)),
            ("button_role", .optional(entry.buttonRole?.rawValue)),
            ("resolved_by", .optional(event.by?.rawValue)),
            ("principal", .string(entry.principal)), ("user", .optional(by.principal.user)),
            ("login_uid", .optional(entry.loginUID)),
            ("session", .optional(entry.session)), ("via", .string(by.via)),
            ("tty", .optional(by.tty)), ("ssh", .optional(by.ssh)),
            ("means", .optional(by.means.text)), ("host", .optional(by.process?.host)),
            ("boot", .string(entry.boot)), ("pid", .optional(by.process?.pid)),
            ("content", .optional(entry.content.map(Hex.text))),
            ("detail", .optional(entry.detail)), ("previous", .string(Hex.text(entry.previous))),
            ("hash", .string(Hex.text(entry.hash))),
        ]).text()
    }
}
