import AlertPresenters
import AlertQueue

/// `alertq watch`: prints events as they happen, or runs a program for each response.
struct WatchCommand: SearchingCommand {
    static let name = "watch"
    static let abstract = "Print events as they happen, or run a program for each response"
    static let operands: [Operand<Self>] = [Operand(.text("ARGUMENT"), each: \.arguments)]
    static let options: [Option<Self>] = [
        Option(
            "after", .auditCursor, \.after,
            help: "Start after this event, by its number or cursor (default: now)"),
        Option("alert", .alertID, \.alert, help: "Only the events of one alert"),
        .source,
        Option("exec", .installedProgram, \.program, help: "Run a program for each response"),
        Option(
            "exec-timeout", .duration, \.$limit,
            help: "How long a run may take", default: LengthText.text),
        Option(
            "button", .text("ID"), \.button,
            help: "With --exec: only where this button was chosen"),
        Option(
            "outcome", .word, \.outcome,
            help: "With --exec: answered, cancelled, dismissed, expired or withdrawn"),
        .since(help: "With --exec: only responses from this time on"),
        .utc,
    ]
    static let discussion = [
        """
        It prints one line per event, until it is stopped. If stdout is not a terminal, the \
        columns are separated by tabs: number, time, alert, event, title, who, detail. With --json \
        each line is the object that audit list prints; keys may be added to it, but are never \
        removed. To continue where an earlier watch stopped, give the last “cursor” to --after; \
        --after 0 starts with the first event. If a cursor does not fit the log, or a number is \
        beyond its end, the exit code is 66.
        """,
        """
        With --exec it prints no events. PROGRAM, which is searched for in $PATH, is run with the \
        ARGUMENTs for each response that has not been collected, oldest first and one at a time, \
        with the alert's JSON line on its stdin, and with $ALERTQ_ALERT, $ALERTQ_OUTCOME, \
        $ALERTQ_BUTTON, $ALERTQ_KEY and $ALERTQ_DATABASE. If it exits with 0, the response is \
        marked as collected, and --json prints it. If it fails, crashes or takes longer than \
        --exec-timeout, the response stays uncollected, and PROGRAM is run for it again after 1 s, \
        2 s, 4 s and so on, up to 10 minutes, and at the next start. All uncollected responses are \
        included; --since now leaves out older ones. PROGRAM may run twice for one response, for \
        example after a crash of this process, but never twice at once. Its stderr goes to that of \
        this command as it is, including control characters.
        """,
        """
        It skips responses that others take: those that a waiting ask or a program's own handler \
        is about to collect, those of an asker that is still running, for the first ten seconds, \
        and all that belong to a named handler.
        """,
        DateText.past,
    ]

    var common = QueueOptions()
    var conditions = AlertConditions()
    private var after: AuditCursor?
    private var alert: Alert.ID?
    /// What `--exec` runs, with its arguments.
    private var program: String?
    private var arguments: [String] = []
    @Defaulted private var limit = Duration.seconds(300)
    private var button: String?
    private var outcome: Outcome?

    func validate() throws {
        guard program == nil else {
            return try UsageError.refuse(["after": after != nil, "alert": alert != nil]) {
                "\($0) is for events, and can't be combined with --exec"
            }
        }
        if let argument = arguments.first {
            throw UsageError("“\(argument)” is an argument for --exec, which is not given")
        }
        try UsageError.refuse([
            "exec-timeout": $limit.isGiven, "button": button != nil, "outcome": outcome != nil,
            "since": conditions.since != nil,
        ]) { "\($0) needs --exec" }
    }

    func run(in context: Context) async throws -> ExitCode {
        let hasWaited = try await waitForQueue(in: context)
        if let program { return try await run([program] + arguments, in: context) }
        return try await queue.open(via: Self.name) { manager in
            try await after?.check(manager)
            if context.errors.isTerminal { context.note("watching; Ctrl-C stops") }
            // Everything in a queue that did not exist before has happened since.
            let start = hasWaited ? 0 : manager.position.sequence
            return try await follow(manager, from: after?.sequence ?? start, in: context)
        }
    }

    /// Waits until an ask creates the queue: looking at it must not. Returns whether it had to
    /// wait.
    private func waitForQueue(in context: Context) async throws -> Bool {
        var hasWaited = false
        while true {
            switch QueuePresence(path: queue.path) {
            case .absent: break
            case .noDirectory where !queue.isNamed && queue != .system: break
            case .noDirectory where queue == .system: throw queue.noQueue
            case .noDirectory, .present, .closed: return hasWaited
            }
            if !hasWaited {
                try after?.check(end: 0)
                context.note("there is no queue at \(queue.path) yet; waiting for one")
            }
            hasWaited = true
            try context.output.checkReader()
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Prints events forever. Signals simply end the process: there is nothing to undo, and
    /// a reader that does not read must not be able to block it.
    private func follow(
        _ manager: AlertManager, from start: Int64, in context: Context
    ) async throws -> ExitCode {
        var cursor = start
        var last = after?.head
        var retry = DiskRetry()
        while true {
            let page: [AuditEntry]
            do throws(AlertError) {
                page = try await manager.nextAudit(after: cursor, of: alert, limit: 100)
                retry.succeed()
            } catch {
                try await retry.pause(after: error)
                continue
            }
            for entry in page {
                try entry.checkHash()
                let head = AuditHead(sequence: entry.event.sequence, hash: entry.hash)
                if let last, alert == nil { try entry.checkLink(after: last) }
                last = head
                cursor = head.sequence
                guard isOfSource(entry.event) else { continue }
                let line =
                    isJSON
                    ? try AuditListCommand.json(entry).text() : EventLine.text(entry, in: context)
                try context.print(line)
            }
            // A reader that has gone is noticed before the next event, which may be far off.
            if page.isEmpty { try context.output.checkReader() }
        }
    }

    private func isOfSource(_ event: AlertEvent) -> Bool {
        conditions.source.map { event.source.isIdentical(to: $0) } ?? true
    }

    private func run(_ words: [String], in context: Context) async throws -> ExitCode {
        var filter = try conditions.responses(now: context.now())
        filter.outcome = outcome
        filter.button = button
        return try await queue.open(via: Self.name) { [filter] manager in
            let signals = SignalWatch(stops: false)
            let hook = AnswerHook(
                manager: manager, filter: filter,
                program: HookProgram(
                    words: words, limit: limit, sharesOutput: !isJSON,
                    signals: signals.numbers),
                isJSON: isJSON, context: context)
            if context.errors.isTerminal {
                context.note("running \(words[0]) for responses; Ctrl-C stops")
            }
            let signal = try await withThrowingTaskGroup(of: Int32?.self) { group in
                group.addTask {
                    try await hook.run()
                    return nil
                }
                group.addTask { await signals.events.first { _ in true } }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
            if let signal { throw Interruption(signal: signal) }
            return .done
        }
    }
}

extension Argument where Value == String {
    /// A program that is found, by its path or by `$PATH`.
    fileprivate static var installedProgram: Argument {
        Argument("PROGRAM", .program) { name throws(UsageError) in
            guard ProgramSearch.path(of: name) != nil else {
                throw UsageError("\(ProgramError.notFound(program: name))")
            }
            return name
        }
    }
}
