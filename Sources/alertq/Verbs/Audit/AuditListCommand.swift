import AlertQueue
import TextFormats

/// `alertq audit list`: the entries of the log, oldest first.
struct AuditListCommand: AuditReadingCommand {
    static let name = "audit list"
    static let abstract = "List the entries of the audit log, oldest first"
    static let options: [Option<Self>] = [
        .after,
        Option("last", .count(), \.last, help: "Only the last COUNT entries"),
        Option("alert", .alertID, \.alert, help: "Only the entries of one alert"),
        Option(
            "limit", .count(), \.$limit, help: "List at most COUNT", default: \.description),
        .utc,
    ]
    static let discussion = [
        Table.help,
        """
        With --json each object has the keys “sequence”, “event”, “at”, “alert” (its id), \
        “source”, “title”, “outcome”, “button_index”, “button_role”, “by”, “responder”, \
        “login_uid”, “session”, “boot” and “detail”; “content”, “previous” and “hash”, in hexadecimal; \
        “key”; “button”, the chosen button's id; “note”, that of a response or the reason of a \
        withdrawal; and “cursor”, the number and the hash: --after \
        continues after it, and refuses it if a different entry has that number.
        """,
        """
        The events are asked, presented, returned, snoozed, claimed (somebody said that they deal \
        with it), released (the claim was ended), cancelling (the screen that shows the \
        alert was asked to cancel it), resolved, superseded (another alert was asked in its place), \
        collected, ran (a command that the answer allows has started or ended), erased, restored, \
        moved (the queue goes on elsewhere) and clock (the clock of the queue's server was set). \
        Later versions may add others: ignore what you don't know.
        """,
    ]

    /// How many entries are in memory at a time.
    private static let pageSize = 200

    var common = QueueOptions()
    var after: AuditCursor?
    private var last: Int?
    private var alert: Alert.ID?
    @Defaulted private var limit = 100

    func validate() throws {
        guard last != nil else { return }
        try UsageError.refuse(["after": after != nil, "limit": $limit.isGiven]) {
            "--last and \($0) can't be combined; give one of them"
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        var table = Self.table(in: context)
        let isDone: Void? = try await queue.read(in: context) { manager in
            var after = try await start.head(in: manager)
            var left = last ?? limit
            var isFirst = true
            repeat {
                let size = min(left, Self.pageSize)
                let page =
                    if let last, isFirst {
                        try await manager.lastEntries(last, of: alert, limit: size)
                    } else {
                        try await manager.audit(after: after, of: alert, limit: size)
                    }
                isFirst = false
                if isJSON {
                    for entry in page { try context.print(AlertJSON.value(entry).text()) }
                } else if !page.isEmpty {
                    let rows = page.map { Self.row($0, in: context) }
                    try context.output.write(table.text(rows))
                }
                left = page.count < size ? 0 : left - size
                after = page.last?.event.cursor ?? after
            } while left > 0
            guard alert == nil, let head = try await manager.auditHead(),
                head.sequence > after.sequence
            else { return }
            let rest = head.sequence - after.sequence
            context.note("\(rest) more; to continue: --after \(after.sequence)")
        }
        if isDone == nil { try start.checkWithoutLog() }
        return .done
    }
}

// MARK: - An entry

extension AuditListCommand {
    /// The table of entries; that of one alert leaves its title out.
    static func table(hasTitle: Bool = true, in context: Context) -> Table {
        let title = hasTitle ? [Table.Column("TITLE", .titles)] : []
        return Table(
            ["ENTRY", Table.Column("TIME", .times), "ALERT", "EVENT"] + title + ["BY", "DETAIL"],
            dropping: hasTitle ? ["DETAIL", "BY", "ALERT", "TIME"] : ["ALERT", "TIME"],
            for: context)
    }

    static func row(
        _ entry: AuditEntry, hasTitle: Bool = true, in context: Context
    ) -> [String] {
        let event = entry.event
        let responder = event.responder
        let tty = responder.tty.map { " on \($0)" } ?? ""
        let title = hasTitle ? [entry.title ?? event.alertID.map { "#\($0)" } ?? "-"] : []
        return [
            "\(event.sequence)", TimeText.text(event.at, in: context),
            event.alertID.map { "\($0)" } ?? "-", event.kind.rawValue,
        ] + title + [
            "\(responder.principal.label) via \(responder.via)\(tty)", detail(entry, in: context),
        ]
    }

    private static func detail(_ entry: AuditEntry, in context: Context) -> String {
        let event = entry.event
        var words = [event.outcome?.rawValue, event.by.map { "by \($0.rawValue)" }]
        if let index = event.buttonIndex, index >= 0 {
            let role = entry.buttonRole.map { " (\($0.rawValue))" } ?? ""
            // Once the label has been erased, the id or the index is what is left.
            words.append("“\(entry.label ?? entry.button ?? "#\(index)")”\(role)")
        }
        words.append(entry.words(context.lastingTime))
        let text = words.compactMap { $0 }.joined(separator: ", ")
        return text.isEmpty ? "-" : text
    }
}
