import AlertPresenters
import AlertQueue
import TextFormats

/// `alertq watch`: prints events as they happen, or runs a program for each response or question.
struct WatchCommand: SearchingCommand {
    static let name = "watch"
    static let abstract = "Print events, or run a program for each response or question"
    static let operands: [Operand<Self>] = [Operand(.text("ARGUMENT"), each: \.arguments)]
    static let options: [Option<Self>] = [
        Option(
            "after", .auditCursor, \.after,
            help: "Start after this event, by its number or cursor (default: now)"),
        Option("alert", .alertID, \.alert, help: "Only the events of one alert"),
        .source,
        Option(
            "exec", .installedProgram, \.program,
            help: "Run a program for each response, or for each question"),
        Option(
            "event", .word, \.$event,
            help: "With --exec: resolved, for each response, or asked, for each question",
            default: \.rawValue),
        Option(
            "cursor", .path("FILE", ifEmpty: "the cursor file has no name"), \.cursor,
            help: "With --event asked: continue after the last question that FILE names"),
        Option(
            "exec-timeout", .duration, \.$limit,
            help: "How long a run may take", default: LengthText.text),
        Option(
            "button", .text("ID", .chosenButton), \.button,
            help: "With --exec: only where this button was chosen"),
        Option(
            "outcome", .word, \.outcome,
            help: "With --exec: answered, cancelled, dismissed, expired or withdrawn"),
        .since(help: "With --exec: only what was answered, or asked, from this time on"),
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
        $ALERTQ_BUTTON, $ALERTQ_VALUES (an object of JSON, up to 64 KiB), $ALERTQ_NOTE, $ALERTQ_KEY and \
        $ALERTQ_DATABASE. If it exits with 0, the response is \
        marked as collected, and --json prints it. If it fails, crashes or takes longer than \
        --exec-timeout, the response stays uncollected, and PROGRAM is run for it again after 1 s, \
        2 s, 4 s and so on, up to 10 minutes, and at the next start. All uncollected responses are \
        included; --since now leaves out older ones. PROGRAM may run twice for one response, for \
        example after a crash of this process, but never twice at once. Its stderr goes to that of \
        this command as it is, including control characters.
        """,
        """
        It skips responses that others take: those of other accounts, unless root of their machine \
        runs it; those that a waiting ask or a program's own handler is about to collect; those of \
        an asker that is still running, for the first ten seconds; and all that belong to a named \
        handler.
        """,
        """
        With --event asked, PROGRAM is run for each question instead, with the same input and \
        variables: first for those that wait, then for each new one, in the order in which they \
        were asked. It is run once for each, whatever its exit code; only if it can't be started \
        is it tried again. Questions that no longer wait are left out, and so are notices. \
        --cursor stores each question that is done as NUMBER:HASH in FILE, which is created, and \
        continues after it at the next start; without it, each start begins with all that wait. If \
        this process ends after a run and before FILE is written, that question is repeated, and \
        no other. A cursor that does not fit the log ends it with 66: remove FILE to begin again.
        """,
        DateText.past,
    ]
    static let examples = [
        Example(
            "alertq watch",
            "Print what happens to all alerts from now on"),
        Example(
            "alertq watch --json --after 0",
            "Print all that has happened, and what follows, as JSON"),
        Example(
            "alertq watch --exec logger --source backup",
            "Run a program for each answer to the asker backup, here one that logs it"),
    ]

    var common = QueueOptions()
    var conditions = AlertConditions()
    private var after: AuditCursor?
    private var alert: Alert.ID?
    /// What `--exec` runs, with its arguments.
    private var program: String?
    private var arguments: [String] = []
    @Defaulted private var event = Event.resolved
    private var cursor: String?
    @Defaulted private var limit = Duration.seconds(300)
    private var button: String?
    private var outcome: Outcome?

    /// What `--exec` waits for.
    private enum Event: String, CaseIterable { case resolved, asked }

    func validate() throws {
        guard cursor == nil || event == .asked else {
            throw UsageError("--cursor needs --event asked; a response is kept until it is taken")
        }
        guard program == nil else {
            if event == .asked {
                try UsageError.refuse(["button": button != nil, "outcome": outcome != nil]) {
                    "\($0) is for responses, and can't be combined with --event asked"
                }
            }
            return try UsageError.refuse(["after": after != nil, "alert": alert != nil]) {
                "\($0) is for events, and can't be combined with --exec"
            }
        }
        if let argument = arguments.first {
            throw UsageError("“\(argument)” is an argument for --exec, which is not given")
        }
        try UsageError.refuse([
            "event": $event.isGiven, "exec-timeout": $limit.isGiven, "button": button != nil,
            "outcome": outcome != nil, "since": conditions.since != nil,
        ]) { "\($0) needs --exec" }
    }

    func run(in context: Context) async throws -> ExitCode {
        let hasWaited = try await waitForQueue(in: context)
        if let program { return try await run([program] + arguments, in: context) }
        return try await queue.open(via: Self.name, waiting: ServerWait(in: context)) { manager in
            // Everything in a queue that did not exist before has happened since.
            let start =
                try await after?.head(in: manager) ?? (hasWaited ? .start : manager.position.head)
            if context.errors.isTerminal { context.note("watching; Ctrl-C stops") }
            return try await follow(manager, after: start, in: context)
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
            case .noDirectory: throw queue.noQueue
            case .present, .closed: return hasWaited
            }
            if !hasWaited {
                try after?.checkWithoutLog()
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
        _ manager: AlertManager, after start: AuditHead, in context: Context
    ) async throws -> ExitCode {
        var log = GrowingLog(manager, of: alert, after: start)
        while true {
            let page = try await log.next()
            for entry in page {
                _ = try log.pass(entry)
                guard isOfSource(entry.event) else { continue }
                let line =
                    isJSON
                    ? try AlertJSON.value(entry).text() : EventLine.text(entry, in: context)
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
        if let cursor, queue.location.administration.isOwnFile(QueueChoice.absolute(cursor)) {
            throw CommandError(.badData, "\(cursor) is one of the queue's own files")
        }
        return try await queue.open(via: Self.name, waiting: ServerWait(in: context)) {
            [filter] manager in
            // A queue that is refused leaves no cursor.
            let cursor = try cursor.map { path throws(CommandError) in
                try CursorFile(path: path)
            }
            let signals = SignalWatch(stops: false)
            let program = HookProgram(
                words: words, limit: limit, sharesOutput: !isJSON, signals: signals.numbers)
            if context.errors.isTerminal {
                let what = event == .asked ? "questions" : "responses"
                context.note("running \(words[0]) for \(what); Ctrl-C stops")
            }
            let signal = try await withThrowingTaskGroup(of: Int32?.self) { group in
                group.addTask {
                    switch event {
                    case .resolved:
                        try await AnswerHook(
                            manager: manager, filter: filter, program: program, isJSON: isJSON,
                            context: context
                        ).run()
                    case .asked:
                        try await QuestionHook(
                            manager: manager, filter: filter, program: program, cursor: cursor,
                            isJSON: isJSON, context: context
                        ).run()
                    }
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
