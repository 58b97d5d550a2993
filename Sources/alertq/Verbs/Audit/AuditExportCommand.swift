import AlertQueue
import TextFormats

/// `alertq audit export`: the log as JSON Lines, for independent verifiers.
struct AuditExportCommand: AuditReadingCommand {
    static let name = "audit export"
    static let abstract = "Print the whole audit log as JSON Lines, for independent verifiers"
    static let options: [Option<Self>] = [.after]
    static let discussion = [
        """
        Each line is an object with exactly the values that the entry's hashes cover, in their \
        order: “seq”, “at_ms” (since 1970, in UTC), “event”, “alert_id”, “source”, “outcome”, \
        “button_index”, “button_role”, “resolved_by”, “principal”, “user”, “login_uid”, “session”, \
        “via”, “tty”, “ssh”, “means”, “host”, “boot”, “pid”, “content”, “detail” and “previous”; then “hash”. \
        Numbers are JSON numbers, hashes are in hexadecimal, and absent values are null. Texts of \
        alerts are not in the log.
        """,
        """
        The hash of what an entry says is the SHA-256 of “alertq-entry-1” and the values up to \
        “detail”, as netstrings; “hash” is that of “alertq-audit-1”, “previous” and the hash of what \
        the entry says. The article “How the audit log is chained” has an example. A hash chain \
        can't show that its end was cut off: give the verifier the output of audit head. To \
        continue an earlier export, give its last number to --after.
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
            try output.write(page.map { try $0.exported.text() + "\n" }.joined())
            done = end
            // Where the lines themselves are on the screen, a bar would only be in the way.
            if !output.isTerminal {
                bar.show(Int(done.sequence - start.sequence), of: Int(last - start.sequence))
            }
        }
    }
}
