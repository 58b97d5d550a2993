import AlertPresenters
import AlertQueue
import FoundationEssentials
import Glibc

/// `alertq watch`: what happens, as it happens; or a program for each response.
package struct WatchCommand: Command {
    package static let name = "watch"
    package static let abstract = "Print what happens as it happens, or run a program for answers"
    package static let operands = ["[ARGUMENT...]"]
    package static let options = [
        after, alert, source, exec, execTimeout, button, outcome, since, .utc,
    ]
    package static let discussion = [
        """
        One line an event, until it is stopped. Off a terminal a tab stands between the columns: \
        number, time, alert, event, title, who, detail. With --json each line is the object that \
        audit list prints, whose keys are only ever added. To go on where an earlier watch \
        stopped, give the last “cursor” to --after; --after 0 begins with the first event. A \
        cursor that does not fit the log, or a number beyond its end, is an error, and exits \
        with 66.
        """,
        """
        With --exec it prints no events. PROGRAM, found by $PATH and given each ARGUMENT, is run \
        for each response that nobody has collected, oldest first and one at a time, with the \
        alert's JSON line on its stdin, and $ALERTQ_ALERT, $ALERTQ_OUTCOME, $ALERTQ_BUTTON, \
        $ALERTQ_KEY and $ALERTQ_DATABASE. When it exits with 0, the response is marked as \
        collected, and --json prints it. When it fails, crashes or takes longer than \
        --exec-timeout, the response stays, and is tried again after 1 s, 2 s, 4 s and so on up \
        to 10 minutes, and at the next start. It begins with all that has not been collected; \
        --since now leaves out what is older. It may run twice for one response, for example \
        after a crash of this process, but never twice at once. What it writes to its stderr goes \
        to this command's as it is, control characters and all.
        """,
        """
        It leaves alone what others take: responses that a waiting ask or a program's own handler \
        is about to collect, those of an asker that still runs for the first ten seconds, and all \
        that belong to a named handler.
        """,
        DateText.past,
    ]

    static let after = Option(
        "after", "PLACE", help: "Begin after this event, by its number or cursor; else now")
    static let alert = Option("alert", "ID", help: "Only what happens to one alert")
    static let source = Option("source", "NAME", help: "Only what this source asked")
    static let exec = Option("exec", "PROGRAM", help: "Run a program for each response")
    static let execTimeout = Option(
        "exec-timeout", "DURATION", help: "How long a run may take; 5 minutes unless given")
    static let button = Option(
        "button", "ID", .text, help: "With --exec: only where this button was chosen")
    static let outcome = Option(
        "outcome", "WORD", .words(Outcome.allCases.map(\.rawValue)),
        help: "With --exec: answered, cancelled, dismissed, expired or withdrawn")
    static let since = Option(
        "since", "TIME", help: "With --exec: only responses from this time on")

    private let queue: QueueChoice
    private let after: LogPlace?
    private let alert: Alert.ID?
    private let source: String?
    private let isJSON: Bool
    /// What `--exec` asks for.
    private let hook: HookOptions?

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        after = try arguments.value(Self.after, Arguments.place)
        alert = try arguments.value(Self.alert, Arguments.alertID)
        source = arguments[Self.source]
        isJSON = arguments.has(.json)
        hook = try HookOptions(arguments)
    }

    package func run(in context: Context) async throws -> ExitCode {
        let hasWaited = try await waitForQueue(in: context)
        if let hook { return try await run(hook, in: context) }
        return try await queue.open(via: Self.name) { manager in
            try await after?.check(manager)
            if context.errors.isTerminal { context.note("watching; Ctrl-C stops") }
            // Whatever is in a queue that was not there has happened since.
            let start = hasWaited ? 0 : manager.knownSequence
            return try await follow(manager, from: after?.sequence ?? start, in: context)
        }
    }

    /// Waits until somebody asks something, and so makes the queue: looking at it makes none.
    /// Returns whether it had to.
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

    /// Prints events for ever. Signals are left to end the process: there is nothing to undo, and
    /// a reader that does not read must not be able to hold it.
    private func follow(
        _ manager: AlertManager, from start: Int64, in context: Context
    ) async throws -> ExitCode {
        var cursor = start
        var last = after?.head
        var failingSince: ContinuousClock.Instant?
        while true {
            let page: [AuditEntry]
            do throws(AlertError) {
                page = try await manager.nextAudit(after: cursor, of: alert, limit: 100)
                failingSince = nil
            } catch {
                // A disk that fails now may not in a moment.
                let since = failingSince ?? .now
                failingSince = since
                if since.duration(to: .now) > .seconds(5) { throw error }
                try await Task.sleep(for: .milliseconds(500))
                continue
            }
            for entry in page {
                try entry.checkHash()
                let head = AuditHead(sequence: entry.event.sequence, hash: entry.hash)
                if let last, alert == nil { try entry.checkPlace(after: last) }
                last = head
                cursor = head.sequence
                guard source == nil || source.isIdentical(to: entry.event.source) else {
                    continue
                }
                let line =
                    isJSON
                    ? try AuditListCommand.json(entry).text() : EventLine.text(entry, in: context)
                try context.print(line)
            }
            // Whoever has read enough is noticed before the next event, which may be far off.
            if page.isEmpty { try context.output.checkReader() }
        }
    }

    private func run(_ options: HookOptions, in context: Context) async throws -> ExitCode {
        let filter = try options.filter(source: source, now: context.now())
        return try await queue.open(via: Self.name) { manager in
            let signals = SignalWatch(stops: false)
            let hook = AnswerHook(
                manager: manager, filter: filter,
                program: HookProgram(
                    words: options.words, limit: options.limit, sharesOutput: !isJSON,
                    signals: signals.numbers),
                isJSON: isJSON, context: context)
            if context.errors.isTerminal {
                context.note("running \(options.words[0]) for responses; Ctrl-C stops")
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

/// The options that only `watch --exec` has.
private struct HookOptions: Sendable {
    let words: [String]
    let limit: Duration
    private let arguments: Arguments

    /// `nil` without `--exec`.
    init?(_ arguments: Arguments) throws(UsageError) {
        let limit = try arguments.value(WatchCommand.execTimeout, DurationText.parse)
        self.arguments = arguments
        self.limit = limit ?? .seconds(300)
        guard let program = arguments[WatchCommand.exec] else {
            words = []
            try Self.checkWithoutProgram(arguments)
            return nil
        }
        guard ProgramSearch.path(of: program) != nil else {
            throw UsageError("--exec: \(ProgramError.notFound(program: program))")
        }
        words = [program] + arguments.operands
        for option in [WatchCommand.after, WatchCommand.alert] where arguments.has(option) {
            throw UsageError("--\(option.name) is for events, and means nothing with --exec")
        }
        _ = try filter(source: nil, now: Date())
    }

    func filter(source: String?, now: Date) throws(UsageError) -> HistoryFilter {
        HistoryFilter(
            source: source,
            outcome: try arguments.choice(
                WatchCommand.outcome, Outcome.allCases.map { ($0.rawValue, $0) }),
            button: arguments[WatchCommand.button],
            since: try arguments.value(WatchCommand.since) { text throws(UsageError) in
                try DateText.parse(text, now: now)
            })
    }

    private static func checkWithoutProgram(_ arguments: Arguments) throws(UsageError) {
        if let argument = arguments.operands.first {
            throw UsageError("“\(argument)” is for the program of --exec, which is not given")
        }
        for option in [
            WatchCommand.execTimeout, WatchCommand.button, WatchCommand.outcome,
            WatchCommand.since,
        ] where arguments.has(option) {
            throw UsageError("--\(option.name) is for --exec, which is not given")
        }
    }
}
