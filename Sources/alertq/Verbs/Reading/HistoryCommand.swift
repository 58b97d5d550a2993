import AlertQueue
import FoundationEssentials
import TextFormats

/// `alertq history`: responses, newest first.
struct HistoryCommand: SearchingCommand {
    static let name = "history"
    static let abstract = "List the responses, newest first"
    static let options: [Option<Self>] = [
        .source,
        Option("asked-by", .principal, \.askedBy, help: "Only what this account or person asked"),
        .key,
        Option(
            "outcome", .word, \.outcome,
            help: "answered, cancelled, dismissed, expired or withdrawn"),
        Option(
            "button", .text("ID", .chosenButton), \.button,
            help: "Only where this button was chosen"),
        Option("by", .word, \.by, help: "person, program, policy, asker or system"),
        Option("user", .user, \.user, help: "Only what this account or person decided"),
        Option(
            "via", .text("NAME", .via), \.via,
            help: "Only what came through this presenter or verb"),
        .since(help: "Only responses from this time on"),
        .until(help: "Only responses before this time"),
        .text,
        Option("uncollected", \.isUncollected, help: "Only responses that have not been collected"),
        Option(
            "limit", .count(), \.$limit, help: "List at most COUNT", default: \.description),
        Option(
            "after", .alertID, \.after,
            help: "Only responses older than the one to this alert"),
        Option("csv", \.isCSV, help: "Print comma-separated values, for a spreadsheet"),
        .utc,
    ]
    static let discussion = [
        """
        All conditions that are given must hold. To continue, give the last id to --after.
        """,
        """
        ACCOUNT is the name or the number of an account of this machine, with or without @HOST; \
        NUMBER@HOST or root@HOST is one of another machine that uses the same queue. NAME is what the \
        log calls an account: it finds that of any machine, and NAME@HOST that of one. In place of both, \
        person:NAME is a person without an account.
        """,
        DateText.past,
        """
        --text searches titles, messages, labels, the values of --info, and the answers' values and \
        notes for whole words, in any \
        order; all of them must occur. Case and accents make no difference. Words in quotation \
        marks must follow each other: '"old snapshots" prune'. A star at the end of a word matches \
        any ending, as in snap*; the more words it matches, the longer the search takes. In \
        scripts that are written without spaces, such as Chinese, Japanese and Thai, and in \
        Korean, any part of a text between spaces is found.
        """,
        Table.help,
        """
        What is listed is compared with the audit log. A response that the log contradicts, because \
        somebody has changed the queue, is marked as contradicted: in the table after its outcome, \
        in JSON and CSV under that name. It is reported on stderr, and the exit code is 65. Only audit verify finds \
        a change that hides a response from the conditions.
        """,
        """
        --csv prints a line of names and one row per response, as RFC 4180 defines it: commas, \
        CRLF, UTF-8, and times in the format of RFC 3339, in every locale. A text that a \
        spreadsheet might take for a formula, because it begins with =, +, - or @, or that begins \
        with an apostrophe, gets an apostrophe before it; programs should use --json.
        """,
    ]
    static let examples = [
        Example(
            "alertq history --source backup --since 30d",
            "List what was decided for the asker backup in the last 30 days"),
        Example(
            "alertq history --by person --button yes --limit 5",
            "List the last five to which people said yes"),
        Example(
            #"alertq history --text '"old snapshots" prune' --csv"#,
            "Find words in questions and answers, for a spreadsheet"),
    ]

    /// How many responses are in memory at a time.
    private static let pageSize = 200

    var common = QueueOptions()
    var conditions = AlertConditions()
    private var askedBy: TypedPrincipal?
    private var outcome: Outcome?
    private var button: String?
    private var by: ResolvedBy?
    private var user: TypedPrincipal?
    private var via: String?
    private var isUncollected = false
    @Defaulted private var limit = 50
    private var after: Alert.ID?
    private var isCSV = false

    func validate() throws {
        guard !isJSON || !isCSV else {
            throw UsageError("--csv and --json can't be combined; give one of them")
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        let filter = try filter(now: context.now())
        let found = try await list(filter, in: context) ?? Found()
        if found.isEmpty, context.output.isTerminal { context.note("no responses") }
        return found.isContradicted ? .badData : .done
    }

    private struct Found {
        var isEmpty = true
        var isContradicted = false
    }

    /// Prints page by page; returns `nil` where there is no queue.
    private func list(_ filter: HistoryFilter, in context: Context) async throws -> Found? {
        var table = Self.table(in: context)
        var names = PrincipalNames()
        if isCSV { try context.output.write(AlertCSV.header) }
        return try await queue.read(in: context) { manager in
            var found = Found()
            var left = limit
            var after = after
            repeat {
                let size = min(left, Self.pageSize)
                let page = try await manager.page(
                    RecordQuery(.history(filter), after: after, limit: size))
                try print(page.records, &names, &table, in: context)
                let wrong = page.records.filter(\.isContradicted).map(\.id) + page.unreadable
                await Self.report(wrong, manager, in: context)
                found.isContradicted = found.isContradicted || !wrong.isEmpty
                left = page.isEnd || Task.isCancelled ? 0 : left - size
                after = page.next
                found.isEmpty = found.isEmpty && page.ids.isEmpty
            } while left > 0
            return found
        }
    }

    private func print(
        _ page: [AlertRecord], _ names: inout PrincipalNames, _ table: inout Table,
        in context: Context
    ) throws {
        if isJSON {
            for record in page { try context.print(AlertJSON.line(record)) }
        } else if isCSV {
            let isShown = context.output.isTerminal
            let rows = page.map { AlertCSV.row($0, isShown: isShown) }
            try context.output.write(rows.joined())
        } else if !page.isEmpty {
            let rows = page.map {
                Self.row($0, askedBy: names.name(of: $0.source.principal), in: context)
            }
            try context.output.write(table.text(rows))
        }
    }

    private func filter(now: Date) throws(UsageError) -> HistoryFilter {
        var filter = try conditions.responses(now: now)
        filter.asker = try askedBy.map(queue.principal)
        filter.outcome = outcome
        filter.button = button
        filter.by = by
        filter.user = user?.user
        filter.userHost = user?.host.map { host in queue.ownHost.isIdentical(to: host) ? "" : host }
        filter.via = via
        filter.uncollected = isUncollected
        return filter
    }

    static func table(in context: Context) -> Table {
        Table(
            [
                "ID", .init("RESOLVED", .times), "SOURCE", "ASKED BY", "OUTCOME", "BUTTON", "BY",
                .init("TITLE", .titles),
            ],
            dropping: ["ASKED BY", "SOURCE", "BY", "RESOLVED", "BUTTON"], for: context)
    }

    static func row(
        _ record: AlertRecord, askedBy user: String, in context: Context
    ) -> [String] {
        let response = record.response
        let index = response?.buttonIndex ?? -1
        // Once the texts have been erased, the index is what is left.
        let button = response?.button?.id ?? (index >= 0 ? "#\(index)" : "-")
        let responder = response?.responder.map { " (\($0.principal.word))" } ?? ""
        let handling = response?.cancelHandling.map { $0 == .handled ? ", handled" : ", simulated" }
        return [
            "\(record.id)", TimeText.text(response?.resolvedAt, in: context), record.source.name,
            user,
            (response?.outcome.rawValue ?? "-") + (record.isContradicted ? ", contradicted" : ""),
            button,
            (response?.by.rawValue ?? "-") + responder + (handling ?? ""), record.alert.title,
        ]
    }
}
