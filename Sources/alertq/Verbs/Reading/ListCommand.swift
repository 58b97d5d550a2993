import AlertQueue
import TextFormats

/// `alertq list`: the waiting alerts, in the order in which they will be shown.
struct ListCommand: SearchingCommand {
    static let name = "list"
    static let abstract = "List the waiting alerts, next one first"
    static let options: [Option<Self>] = [
        Option("count", \.countsOnly, help: "Print only how many wait"),
        .source, .key, .since(), .until(), .text,
        Option(
            "limit", .count(), \.$limit, help: "List at most COUNT", default: \.description),
        Option("all", \.listsAll, help: "List all of them"),
        .utc,
    ]
    static let discussion = [
        """
        All conditions that are given must hold; with --count, the alerts that fulfil them are \
        counted. --text searches for words as that of history does.
        """,
        DateText.past,
        Table.help,
        """
        A question is orphaned if its asker waited for the answer and is gone, and nobody else waits \
        for it: withdraw --orphaned takes it back.
        """,
        """
        An alert whose deadline has passed is listed as expired until a process that may write to \
        the queue has stored that, and is not counted: list only reads.
        """,
        """
        With --json each object is the one that show prints; with --count it has the key \
        “pending”, a number.
        """,
        """
        --count is fast enough for a shell's prompt. In ~/.bashrc: \
        PS1='$(alertq list --count 2>/dev/null) '$PS1
        """,
    ]

    /// How many alerts are in memory at a time.
    private static let pageSize = 500

    var common = QueueOptions()
    var conditions = AlertConditions()
    private var countsOnly = false
    @Defaulted private var limit = 100
    private var listsAll = false

    func validate() throws {
        guard !listsAll || !$limit.isGiven else {
            throw UsageError("--all and --limit can't be combined; give one of them")
        }
    }

    func runAtOnce(in context: Context) throws -> ExitCode? {
        let filter = try WaitingFilter(conditions, now: context.now())
        guard countsOnly, filter.isOpen,
            let count = queue.location.pendingCountAtOnce()
        else { return nil }
        try print(count, context)
        return .done
    }

    func run(in context: Context) async throws -> ExitCode {
        let filter = try WaitingFilter(conditions, now: context.now())
        let result = try await queue.read(in: context) { manager in
            let listed =
                countsOnly && filter.isOpen
                ? Listed(hasMore: true) : try await list(filter, manager, in: context)
            let isCounted = listed.hasMore && filter.isOpen
            let count = isCounted ? try await manager.pendingCount() : listed.waiting
            return (listed: listed, count: count, screens: await manager.screens())
        }
        // Where nobody has asked anything yet, nothing waits.
        let (listed, count, screens) = result ?? (Listed(), 0, ScreenRoster())
        if countsOnly {
            try print(count, context)
            return listed.isReadable ? .done : .badData
        }
        if listed.count == 0, !isJSON, context.output.isTerminal {
            context.note(filter.isOpen ? WaitingText.count(0) : "no waiting alert matches")
        }
        if listed.hasMore {
            let what =
                filter.isOpen
                ? "of \(count) waiting alerts, \(listed.waiting) are listed" : "more alerts match"
            context.note(what + "; --all lists all of them")
        }
        if screens.advice != nil, count > 0, let showing = screens.showing {
            context.note("alerts \(showing)")
        }
        return listed.isReadable ? .done : .badData
    }

    /// What was printed, or counted, and whether there are more.
    private struct Listed: Sendable {
        var count = 0
        /// How many of them wait; the deadline of the others has passed.
        var waiting = 0
        var hasMore = false
        /// Whether all that was looked at could be read.
        var isReadable = true
    }

    /// Prints page by page.
    private func list(
        _ filter: WaitingFilter, _ manager: AlertManager, in context: Context
    ) async throws -> Listed {
        var table = Self.table(in: context)
        var names = PrincipalNames()
        let limit = listsAll || countsOnly ? .max : limit
        var (listed, after) = (Listed(), Alert.ID?.none)
        while true {
            // Reading one more than is printed shows whether there are more.
            let left = limit - listed.count
            let size = filter.isOpen && left < Self.pageSize ? left + 1 : Self.pageSize
            let page = try await manager.page(
                RecordQuery(
                    .waiting(source: filter.source, orOverdue: !countsOnly), after: after,
                    limit: size))
            let found = filter.matches(page.records)
            let shown = found.prefix(left)
            if !countsOnly { try print(shown, &names, &table, in: context) }
            listed.count += shown.count
            listed.waiting += shown.count(where: \.isStored)
            listed.hasMore = found.count > shown.count
            await Self.report(page.unreadable, manager, in: context)
            listed.isReadable = listed.isReadable && page.unreadable.isEmpty
            guard !listed.hasMore, !page.isEnd else { return listed }
            after = page.next
        }
    }

    private func print(
        _ records: ArraySlice<AlertRecord>, _ names: inout PrincipalNames, _ table: inout Table,
        in context: Context
    ) throws {
        if isJSON {
            for record in records { try context.print(AlertJSON.line(record)) }
        } else if !records.isEmpty {
            let rows = records.map {
                Self.row($0, askedBy: names.name(of: $0.source.principal), in: context)
            }
            try context.output.write(table.text(rows))
        }
    }

    private func print(_ count: Int, _ context: Context) throws {
        let json = JSONValue.object([("pending", .integer(Int64(count)))])
        try context.print(isJSON ? json.text() : "\(count)")
    }
}

// MARK: - The table

extension ListCommand {
    static func table(_ records: [AlertRecord], in context: Context) -> String {
        var (table, names) = (table(in: context), PrincipalNames())
        return table.text(
            records.map { row($0, askedBy: names.name(of: $0.source.principal), in: context) })
    }

    private static func table(in context: Context) -> Table {
        Table(
            [
                "ID", .init("ASKED", .times), "SOURCE", "ASKED BY", "PRIORITY", "STATE",
                "BUTTONS", .init("TITLE", .titles),
            ],
            dropping: ["PRIORITY", "ASKED BY", "BUTTONS", "SOURCE", "STATE", "ASKED"],
            for: context)
    }

    private static func row(
        _ record: AlertRecord, askedBy user: String, in context: Context
    ) -> [String] {
        let buttons = record.alert.buttons.map(\.id).joined(separator: ",")
        return [
            "\(record.id)", TimeText.text(record.askedAt, in: context),
            record.source.name, user, record.alert.priority.word, state(record, in: context),
            buttons.isEmpty ? "-" : buttons, record.alert.title,
        ]
    }

    private static func state(_ record: AlertRecord, in context: Context) -> String {
        waitingState(record, in: context)
            + (record.claim.map { ", claimed by \($0.by.principal.label)" } ?? "")
            + (record.isOrphaned ? ", orphaned" : "")
    }

    private static func waitingState(_ record: AlertRecord, in context: Context) -> String {
        if let response = record.response { return response.outcome.rawValue }
        guard let end = record.snoozedUntil, end > context.now() else {
            return record.state.rawValue
        }
        let moment = TimeText.text(end, in: context)
        guard record.expiresBeforeSnoozeEnds else {
            return context.output.isTerminal && !context.isUTC
                ? "back \(moment)" : "snoozed until \(moment)"
        }
        // It does not come back, unless the snooze is ended.
        let expiry = TimeText.text(record.expiresAt, in: context)
        return context.output.isTerminal && !context.isUTC
            ? "snoozed, expires \(expiry)" : "snoozed until \(moment), expires first"
    }
}
