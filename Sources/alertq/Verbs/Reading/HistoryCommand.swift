import AlertQueue
import FoundationEssentials

/// `alertq history`: responses, newest first.
package struct HistoryCommand: Command {
    package static let name = "history"
    package static let abstract = "List the responses, newest first"
    package static let options = [
        source, key, outcome, button, by, user, via, since, until, text, uncollected, limit,
        after, csv, .utc,
    ]
    package static let discussion = [
        """
        Conditions that are given together must all hold. To read on, give the last id to --after.
        """,
        DateText.past,
        """
        --text looks for whole words in titles, messages, labels and the values of --info, in any \
        order; all of them must occur. Upper and lower case and accents make no difference. Words \
        in quotation marks must follow each other: '"old snapshots" prune'. A star at the end of a \
        word stands for any other end, snap*, and takes the longer the more it matches. The first \
        search in a long history indexes its words; interrupted, it goes on there the next time.
        """,
        Table.help,
        """
        --csv prints a line of names and one row a response, as RFC 4180 has it: commas, CRLF, \
        UTF-8, times in RFC 3339, whatever the locale. A text that a spreadsheet might take for a \
        formula (it begins with =, +, - or @), or that begins with an apostrophe, gets an \
        apostrophe before it; programs are better off with --json.
        """,
    ]

    static let source = Option("source", "NAME", help: "Only what this source asked")
    static let key = Option("key", "KEY", help: "Only what was asked with this key")
    static let outcome = Option(
        "outcome", "WORD", .words(Outcome.allCases.map(\.rawValue)),
        help: "answered, cancelled, dismissed, expired or withdrawn")
    static let button = Option("button", "ID", .text, help: "Only where this button was chosen")
    static let by = Option(
        "by", "WORD", .words(ResolvedBy.allCases.map(\.rawValue)),
        help: "person, program, policy, asker or system")
    static let user = Option(
        "user", "NAME", .user, help: "Only what this account decided")
    static let via = Option(
        "via", "NAME", .via, help: "Only what came through this presenter or verb")
    static let since = Option("since", "TIME", help: "Only responses from this time on")
    static let until = Option("until", "TIME", help: "Only responses before this time")
    static let text = Option("text", "WORDS", help: "Only where all these words occur")
    static let uncollected = Option(
        "uncollected", help: "Only what no asker has taken yet")
    static let limit = Option("limit", "COUNT", help: "List at most so many; 50 unless given")
    static let after = Option(
        "after", "ID", help: "Only what is older than the response to this alert")

    static let csv = Option("csv", help: "Print comma-separated values, for a spreadsheet")

    /// How many responses are in memory at a time.
    private static let pageSize = 200

    private let queue: QueueChoice
    private let arguments: Arguments
    private let limit: Int
    private let after: Alert.ID?
    private let isJSON: Bool
    private let isCSV: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        limit = try arguments.count(Self.limit, unlessGiven: 50)
        after = try arguments.value(Self.after, Arguments.alertID)
        isJSON = arguments.has(.json)
        isCSV = arguments.has(Self.csv)
        guard !isJSON || !isCSV else {
            throw UsageError("--csv and --json are two forms; give one of them")
        }
        self.arguments = arguments
        // The conditions are read again when it runs, against the time of then.
        _ = try Self.filter(arguments, now: Date())
    }

    package func run(in context: Context) async throws -> ExitCode {
        let filter = try Self.filter(arguments, now: context.now())
        let isEmpty: Bool?
        if filter.text == nil {
            isEmpty = try await list(filter, in: context)
        } else {
            isEmpty = try await ProgressBar.during("indexing", in: context) { bar in
                try await list(filter, in: context, bar)
            }
        }
        if isEmpty ?? true, context.output.isTerminal { context.note("no responses") }
        return .done
    }

    /// Prints page by page; returns whether there was nothing, `nil` where there is no queue.
    private func list(
        _ filter: HistoryFilter, in context: Context, _ bar: ProgressBar? = nil
    ) async throws -> Bool? {
        var table = Self.table(in: context)
        if isCSV { try context.output.write(AlertCSV.header) }
        return try await queue.read(via: Self.name, in: context) { manager in
            if let bar {
                try await manager.prepareTextSearch { bar.show($0, of: $1) }
                bar.clear()
            }
            var isEmpty = true
            var left = limit
            var after = after
            repeat {
                let size = min(left, Self.pageSize)
                let page = try await manager.history(filter, limit: size, after: after)
                try print(page, &table, in: context)
                left = page.count < size || Task.isCancelled ? 0 : left - size
                after = page.last?.id
                isEmpty = isEmpty && page.isEmpty
            } while left > 0
            return isEmpty
        }
    }

    private func print(
        _ page: [AlertRecord], _ table: inout Table, in context: Context
    ) throws {
        if isJSON {
            for record in page { try context.print(AlertJSON.line(record)) }
        } else if isCSV {
            let isShown = context.output.isTerminal
            let rows = page.map { AlertCSV.row($0, isShown: isShown) }
            try context.output.write(rows.joined())
        } else if !page.isEmpty {
            let rows = page.map { Self.row($0, in: context) }
            try context.output.write(table.text(rows))
        }
    }

    package static func filter(
        _ arguments: Arguments, now: Date
    ) throws(UsageError) -> HistoryFilter {
        let date = { (text: String) throws(UsageError) in try DateText.parse(text, now: now) }
        return HistoryFilter(
            source: arguments[source], key: arguments[key],
            outcome: try arguments.choice(outcome, Outcome.allCases.map { ($0.rawValue, $0) }),
            button: arguments[button],
            by: try arguments.choice(by, ResolvedBy.allCases.map { ($0.rawValue, $0) }),
            user: arguments[user], via: arguments[via],
            since: try arguments.value(since, date), until: try arguments.value(until, date),
            uncollected: arguments.has(uncollected),
            text: try arguments.value(text) { text throws(UsageError) in
                _ = try words(text)
                return text
            })
    }

    /// What `--text` looks for.
    package static func words(_ text: String) throws(UsageError) -> SearchText {
        do {
            return try SearchText(text)
        } catch {
            throw UsageError("\(error)")
        }
    }

    package static func table(in context: Context) -> Table {
        Table(
            ["ID", "RESOLVED", "SOURCE", "OUTCOME", "BUTTON", "BY", "TITLE"],
            dropping: ["SOURCE", "BY", "RESOLVED", "BUTTON"], for: context)
    }

    package static func row(_ record: AlertRecord, in context: Context) -> [String] {
        let response = record.response
        let index = response?.buttonIndex ?? -1
        // Once the texts have been erased, the index is what is left.
        let button = response?.button?.id ?? (index >= 0 ? "#\(index)" : "-")
        let user = response?.responder?.user.map { " (\($0))" } ?? ""
        let handling = response?.cancelHandling.map { $0 == .handled ? ", handled" : ", simulated" }
        return [
            "\(record.id)", TimeText.text(response?.resolvedAt, in: context), record.source.name,
            response?.outcome.rawValue ?? "-", button,
            (response?.by.rawValue ?? "-") + user + (handling ?? ""), record.alert.title,
        ]
    }
}
