import AlertQueue
import FoundationEssentials

/// `alertq list`: what waits, in the order in which it will be shown.
package struct ListCommand: Command {
    package static let name = "list"
    package static let abstract = "List the alerts that wait, next one first"
    package static let options = [count, limit]
    package static let discussion = [
        """
        The table is aligned and cut to the width of a terminal; elsewhere a tab stands between \
        the columns, nothing is cut, and times are in RFC 3339.
        """
    ]

    static let count = Option("count", help: "Print only how many wait")
    static let limit = Option("limit", "COUNT", help: "List at most so many; 100 unless given")

    private let queue: QueueChoice
    private let countsOnly: Bool
    private let limit: Int
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        countsOnly = arguments.has(Self.count)
        limit = try arguments.count(Self.limit, unlessGiven: 100)
        isJSON = arguments.has(.json)
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await queue.open(via: Self.name) { manager in
            if countsOnly {
                let count = try await manager.pendingCount()
                try context.print(
                    isJSON
                        ? JSONValue.object([("pending", .integer(Int64(count)))]).text()
                        : "\(count)")
                return .done
            }
            let records = try await manager.pending(limit: limit)
            if isJSON {
                for record in records { try context.print(AlertJSON.line(record)) }
            } else {
                try context.output.write(Self.table(records, in: context))
            }
            if records.count == limit {
                let more = try await manager.pendingCount() - limit
                if more > 0 { context.note("\(more) more wait; --limit shows them") }
            }
            return .done
        }
    }

    package static func table(_ records: [AlertRecord], in context: Context) -> String {
        var table = Table(
            ["ID", "ASKED", "SOURCE", "PRIORITY", "STATE", "BUTTONS", "TITLE"], for: context)
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
        return context.output.isTerminal ? "snoozed, back \(moment)" : "snoozed until \(moment)"
    }
}
