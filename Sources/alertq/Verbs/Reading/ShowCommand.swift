import AlertPresenters
import AlertQueue
import FoundationEssentials
import TextFormats

/// `alertq show ID…`: alerts with all that happened to them.
struct ShowCommand: NamingCommand {
    static let name = "show"
    static let abstract = "Show alerts and everything that happened to them"
    static let operands: [Operand<Self>] = [Operand(.alertID, each: \.alerts.ids)]
    static let options: [Option<Self>] = [.utc] + byKey
    static let discussion = [
        """
        On a terminal, times are local, with their time zone; elsewhere, and with --utc, they are \
        in UTC.
        """,
        severalDiscussion,
    ]

    /// How many of its entries are in memory at a time.
    private static let pageSize = 100

    var common = QueueOptions()
    var alerts = NamedAlerts()

    func run(in context: Context) async throws -> ExitCode {
        try await queue.open(with: alerts.ids.first, via: Self.name, readingIn: context) {
            manager in
            var isFirst = true
            return try await forEach(manager, in: context) { id in
                let record = try await manager.record(id)
                if isJSON {
                    try context.print(AlertJSON.line(record))
                } else {
                    if !isFirst { try context.print("") }
                    isFirst = false
                    try await print(record, manager, in: context)
                }
                return .done
            }
        }
    }

    private func print(
        _ record: AlertRecord, _ manager: AlertManager, in context: Context
    ) async throws {
        try context.output.write(Self.text(record, in: context))
        var table = AuditListCommand.table(hasTitle: false, in: context)
        try context.print("")
        var last = AuditHead.start
        while true {
            let entries = try await manager.audit(
                after: last, of: record.id, limit: Self.pageSize)
            for entry in entries { try entry.checkHash() }
            let rows = entries.map { AuditListCommand.row($0, hasTitle: false, in: context) }
            try context.output.write(table.text(rows))
            guard entries.count == Self.pageSize, let newest = entries.last else { return }
            last = newest.event.cursor
        }
    }

    /// What is known of the alert itself, one thing a line.
    static func text(_ record: AlertRecord, in context: Context) -> String {
        let alert = record.alert
        let characters = context.output.characters
        var text = line("alert", "\(record.id)", context)
        text += line("title", characters.message(alert.title), context)
        text += line(
            "message",
            record.isErased
                ? "the texts have been erased" : characters.message(alert.message ?? ""), context)
        var lines: [(name: String, text: String)] = [
            (
                "source",
                "\(record.source.name) (\(record.source.principal.named.label), "
                    + "\(record.source.means.label))"
            ),
            ("key", alert.key ?? ""), ("style", alert.style.rawValue),
            ("priority", alert.priority.word),
        ]
        for button in alert.buttons {
            lines.append(("button", describe(button, in: record)))
        }
        for field in alert.fields {
            lines.append(("field", describe(field, record.response?.values[field.id])))
        }
        lines.append(("note", record.response?.note ?? ""))
        for (name, value) in alert.userInfo.sorted(by: { $0.key < $1.key }) {
            lines.append(("info", "\(name)=\(value)"))
        }
        lines += [
            (
                "state",
                record.isStored ? record.state.rawValue : "expired, which is not stored yet"
            ),
            ("asker", record.isOrphaned ? "gone: nobody waits for the answer" : ""),
            (
                "claimed",
                record.claim.map { claim in
                    "by \(claim.by.principal.label) until " + time(claim.until, context)
                } ?? ""
            ),
            ("asked", time(record.askedAt, context)),
            (
                "presented",
                record.hasExpiredUnseen
                    ? "never: it expired unseen" : time(record.presentedAt, context)
            ),
            (
                "expires",
                record.expiresAt == nil
                    ? ""
                    : time(record.expiresAt, context) + ", by the "
                        + record.deadlineClock
            ),
            ("default", alert.defaultButton ?? ""),
            (
                "valid",
                alert.validFor.map(AlertWording.validity) ?? ""
            ),
            ("shown on", alert.presenters?.joined(separator: ", ") ?? ""),
            (
                "snoozed until",
                time(record.snoozedUntil, context)
                    + (record.expiresBeforeSnoozeEnds ? ", but it expires first" : "")
            ),
            ("snoozes", record.snoozes > 0 ? "\(record.snoozes)" : ""),
        ]
        if let response = record.response {
            lines.append(("response", record.ending(context.lastingTime)))
            lines.append(("collected", time(response.collectedAt, context)))
            if response.isStale, response.collectedAt == nil {
                lines.append(("stale", "it was given too long ago to be used"))
            }
        }
        return lines.reduce(into: text) { text, next in
            text += line(next.name, characters.ours(SafeText.lines(next.text)), context)
        }
    }

    private static func describe(_ button: Alert.Button, in record: AlertRecord) -> String {
        let role = button.role.map { " (\($0.rawValue))" } ?? ""
        return button.id == button.title || record.isErased
            ? button.id + role : "\(button.id)=\(button.title)" + role
    }

    private static func describe(_ field: Alert.Field, _ value: Alert.Value?) -> String {
        let title = field.title.isIdentical(to: field.id) ? "" : " (\(field.title))"
        var lines = [
            field.id + title + (field.isRequired ? ", required" : "")
                + (value.map { ": \($0.text)" } ?? "")
        ]
        var rules = field.bounds
        switch field.kind {
        case .text(let text):
            if text.isMultiline { rules.append("several lines are possible") }
            if let pattern = text.pattern { rules.append("the pattern is “\(pattern)”") }
        case .choice(let options): rules.append("one of " + describe(options))
        case .choices(let options, _):
            rules = [(rules.first ?? "any") + " of " + describe(options)]
        case .boolean: rules.append("yes or no")
        case .integer, .number: break
        }
        if let placeholder = field.placeholder { rules.append("such as \(placeholder)") }
        if let initial = field.initialValue { rules.append("\(initial.text) unless it is given") }
        if !rules.isEmpty { lines.append("  " + rules.joined(separator: "; ")) }
        if let detail = field.detail { lines.append("  " + detail) }
        return lines.joined(separator: "\n")
    }

    private static func describe(_ options: [Alert.Field.Option]) -> String {
        options.map { $0.id.isIdentical(to: $0.title) ? $0.id : "\($0.id)=\($0.title)" }
            .joined(separator: ", ")
    }

    private static func time(_ date: Date?, _ context: Context) -> String {
        date.map { TimeText.whole($0, in: context) } ?? ""
    }

    /// A name and a safe text, whose further lines are aligned with its first; nothing for no text.
    private static func line(_ name: String, _ text: String, _ context: Context) -> String {
        guard !text.isEmpty else { return "" }
        let indent = "\n" + String(repeating: " ", count: 15)
        // A terminal would break lines in the middle of words, and below the names.
        let lines =
            context.output.columns.map { DisplayWidth.wrapped(text, to: max(20, $0 - 15)) }
            ?? text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return context.style.bold(DisplayWidth.padded(name, to: 13)) + "  "
            + lines.joined(separator: indent) + "\n"
    }
}
