import AlertQueue
import FoundationEssentials

/// `alertq list`: what waits, in the order in which it will be shown.
package struct ListCommand: Command {
    package static let name = "list"
    package static let abstract = "List the alerts that wait, next one first"
    package static let options = [count, limit]
    package static let discussion = [
        """
        The table is cut to the width of a terminal, and columns without room are left out; \
        elsewhere a tab stands between the columns, nothing is cut, and times are in RFC 3339.
        """,
        """
        With --json each object is the one that show prints; with --count it has the key \
        “pending”, a number.
        """,
        """
        --count is quick enough for a shell's prompt. In ~/.bashrc: \
        PS1='$(alertq list --count 2>/dev/null) '$PS1
        """,
    ]

    static let count = Option("count", help: "Print only how many wait")
    static let limit = Option(
        "limit", "COUNT", help: "List at most so many, up to 1,000; 100 unless given")

    /// As many as are in memory at a time.
    private static let maximum = 1000

    private let queue: QueueChoice
    private let countsOnly: Bool
    private let limit: Int
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        countsOnly = arguments.has(Self.count)
        limit = try arguments.count(Self.limit, unlessGiven: 100, atMost: Self.maximum)
        isJSON = arguments.has(.json)
    }

    package func runAtOnce(in context: Context) throws -> ExitCode? {
        guard countsOnly, let count = AlertManager.pendingCountAtOnce(path: queue.path) else {
            return nil
        }
        try tell(count, context)
        return .done
    }

    package func run(in context: Context) async throws -> ExitCode {
        let waiting = try await queue.read(via: Self.name, in: context) { manager in
            let records = countsOnly ? [] : try await manager.pending(limit: limit)
            let isWhole = !countsOnly && records.count < limit
            let count = isWhole ? records.count : try await manager.pendingCount()
            return (records: records, count: count, holder: manager.slotHolder())
        }
        // Where nobody has asked anything yet, nothing waits.
        let (records, count, holder) = waiting ?? ([], 0, nil)
        if countsOnly {
            try tell(count, context)
            return .done
        }
        if isJSON {
            for record in records { try context.print(AlertJSON.line(record)) }
        } else if !records.isEmpty {
            try context.output.write(Self.table(records, in: context))
        } else if context.output.isTerminal {
            context.note(WaitingText.count(0))
        }
        if count > records.count, !records.isEmpty {
            let hint = limit < Self.maximum ? "; --limit shows more" : ""
            context.note("of \(count) alerts that wait, \(records.count) are listed" + hint)
        }
        if let holder, !holder.isThere, count > 0 { context.note("alerts \(holder.showing)") }
        return .done
    }

    private func tell(_ count: Int, _ context: Context) throws {
        let json = JSONValue.object([("pending", .integer(Int64(count)))])
        try context.print(isJSON ? json.text() : "\(count)")
    }

    package static func table(_ records: [AlertRecord], in context: Context) -> String {
        var table = Table(
            ["ID", "ASKED", "SOURCE", "PRIORITY", "STATE", "BUTTONS", "TITLE"],
            dropping: ["PRIORITY", "BUTTONS", "SOURCE", "STATE", "ASKED"], for: context)
        return table.text(
            records.map { record in
                let buttons = record.alert.buttons.map(\.id).joined(separator: ",")
                return [
                    "\(record.id)", TimeText.text(record.askedAt, in: context),
                    record.source.name, record.alert.priority.word, state(record, in: context),
                    buttons.isEmpty ? "-" : buttons, record.alert.title,
                ]
            })
    }

    private static func state(_ record: AlertRecord, in context: Context) -> String {
        guard let end = record.snoozedUntil, end > context.now() else {
            return record.state.rawValue
        }
        let moment = TimeText.text(end, in: context)
        guard record.expiresBeforeSnoozeEnds else {
            return context.output.isTerminal ? "back \(moment)" : "snoozed until \(moment)"
        }
        // It does not come back, unless somebody ends the snooze.
        let expiry = TimeText.text(record.expiresAt, in: context)
        return context.output.isTerminal
            ? "snoozed, expires \(expiry)" : "snoozed until \(moment), expires first"
    }
}
