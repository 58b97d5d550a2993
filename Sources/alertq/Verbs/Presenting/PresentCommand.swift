import AlertPresenters
import AlertQueue
import Glibc
import Linux

/// `alertq present`: shows alerts to a person, one at a time.
struct PresentCommand: Command {
    static let name = "present"
    static let abstract = "Show alerts, in this terminal or elsewhere, until stopped"
    static let options: [Option<Self>] = [
        Option(
            "on", .presenter, each: \.kinds,
            help: "Show them on this presenter; on the terminal by default"),
        Option("once", \.isOnce, help: "Stop when nothing is left to show"),
        Option("plain", \.isPlain, help: PresenterSet.plainHelp),
        Option(
            "install", \.installs,
            help: "Run it at each login; on the desktop unless --on is given"),
        Option("uninstall", \.uninstalls, help: "Undo what --install did"),
    ]
    static let discussion = [
        """
        Alerts are shown one at a time. With several presenters, all of them show the same alert; \
        the first answer wins, and the others clear their screens. The presenters are:
        """,
        """
        terminal: this terminal. Arrows or Tab select a button and Enter chooses it; so do digits \
        and first letters, except for buttons that destroy something. Escape or q snoozes an \
        alert, l offers snooze times, + adds a note to the answer, ? explains the keys, and Ctrl-C \
        stops. Fields are filled in above the buttons: Enter, Tab and the arrows go from one to \
        the next, and letters are text meanwhile. An alert accepts keys once nothing has been \
        typed for 0.75 seconds; pasted text and the repeats of a held key choose nothing. Only \
        the button that cancels can be chosen before a long text has been scrolled through. --plain, or TERM=dumb, prints alerts as numbered lines, for screen \
        readers and terminal logs.
        """,
        """
        desktop: notifications of your desktop, through its message bus. Closing one snoozes the \
        alert.
        """,
        """
        dialog: windows on your desktop, through zenity or kdialog. Closing one snoozes the alert. \
        The values of fields are asked for in windows of their own, after the button.
        """,
        """
        command:PROGRAM: a program of your own, by its path or its name in $PATH. It reads the \
        alert as one line of JSON, as show --json prints it, and prints the id of the chosen \
        button. If it ends without printing anything, the alert comes again later; SIGTERM means \
        that the alert was resolved elsewhere. The first such program gets the terminal, unless \
        the terminal is a presenter too; nothing else is written there until it ends. Its choice \
        counts as that of the person who runs this command.
        """,
        """
        Events are logged to the journal, where systemd has one, with the fields ALERTQ_ID, \
        ALERTQ_EVENT, ALERTQ_SOURCE, ALERTQ_OUTCOME, ALERTQ_BUTTON and others, so that journalctl \
        ALERTQ_ID=42 shows the history of alert 42; otherwise they are logged to stderr, unless \
        that is a terminal with alerts on it. The head of the audit log is logged there after \
        every 1,000 entries and daily, to be compared later: alertq audit verify --head.
        """,
        """
        --install writes a systemd user unit, which shows alerts for as long as you are logged in \
        to a desktop, and starts it; --uninstall stops and removes it.
        """,
        """
        It serves your own queue and, if you have access to it, the system queue; with --database, \
        --system or $ALERTQ_DATABASE only that one. If other processes show a queue's alerts as \
        well, all of them show the same one, and the first answer counts.
        """,
    ]
    static let examples = [
        Example(
            "alertq present",
            "Show alerts in this terminal, until Ctrl-C"),
        Example(
            "alertq present --on desktop --on command:./alert-menu",
            "Show them as notifications, and with a program of your own"),
        Example(
            "alertq present --install",
            "Show them on your desktop at each login"),
    ]

    /// How long it may take to end, with presenters that don't take their alert off the screen.
    private static let endTime = Duration.seconds(8)

    var common = QueueOptions()
    /// What `--on` names.
    private var kinds: [PresenterKind] = []
    private var isOnce = false
    private var isPlain = false
    private var installs = false
    private var uninstalls = false
    private var chosen = PresenterSet([.terminal])

    mutating func validate() throws {
        if let kind = kinds.firstRepeated {
            throw UsageError("--on \(kind.name) is given twice")
        }
        chosen = PresenterSet(kinds.isEmpty ? [.terminal] : kinds, isPlain: isPlain)
        guard !installs || !uninstalls else {
            throw UsageError("--install and --uninstall can't be combined; give one of them")
        }
        guard !installs || kinds.isEmpty || !chosen.usesTerminal else {
            throw UsageError("--install: there is no terminal at login; give another --on")
        }
        guard !isPlain || (chosen.usesTerminal && !installs) else {
            throw UsageError("--plain needs the terminal; add --on terminal")
        }
        guard !isOnce || !(installs || uninstalls) else {
            throw UsageError("--once can't be combined with --install or --uninstall")
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        if installs || uninstalls {
            for line in try await changeUnit(in: context) { context.note(line) }
            return .done
        }
        let terminal = chosen.usesTerminal ? try foregroundTerminal() : nil
        let presenters = try chosen.presenters(in: context)
        let turn = PresentationTurn()
        let managers = try await open(sharing: turn, in: context)
        let signals = SignalWatch(stops: true, endsWithin: Self.endTime)
        let sink = EventLog.sink(besideAlerts: chosen.usesTerminal, in: context)
        let screen = OwnScreen(
            managers: managers, terminal: terminal, presenters: presenters, only: nil,
            keepsLog: sink != nil)
        let logs = sink.map { sink in managers.map { EventLog($0, sink: sink) } } ?? []
        for log in logs { log.hearErrors() }
        // A terminal with an alert on it has no room for them.
        let deferred = DeferredErrors(printingBy: turn, in: context)
        if sink == nil { for manager in managers { manager.onError(deferred.keep) } }
        let logging = Task { await Self.run(logs) }
        defer { logging.cancel() }
        let signal: Int32?
        do {
            signal = try await serve(screen, signals) {
                // The line comes above the first alert, and once somebody is there to be asked.
                // Nobody else has the turn yet.
                _ = turn.takeAtOnce()
                defer { turn.end() }
                try await screen.start()
                await noteWhatIsShown(managers, context)
            }
        } catch {
            await close(screen, logs)
            deferred.print()
            throw error
        }
        await close(screen, logs)
        deferred.print()
        if let signal { throw Interruption(signal: signal) }
        return .done
    }

    private func foregroundTerminal() throws -> ControllingTerminal {
        guard let terminal = ControllingTerminal(), terminal.isForeground else {
            throw UsageError(
                "it must run in the foreground of a terminal; --on shows alerts elsewhere")
        }
        return terminal
    }

    /// Shows alerts until a signal comes, or until nothing is left with `--once`.
    private func serve(
        _ screen: OwnScreen, _ signals: SignalWatch, start: () async throws -> Void
    ) async throws -> Int32? {
        // Counts each suspension and each return from one.
        let suspensions = ChangeSignal()
        return try await withThrowingTaskGroup(of: Int32?.self) { group in
            try await start()
            if isOnce {
                group.addTask {
                    try await Self.waitUntilAllIsShown(by: screen.managers, suspensions)
                    return nil
                }
            }
            for manager in screen.managers {
                group.addTask {
                    try await manager.presentingFailed()
                    return nil
                }
            }
            group.addTask {
                let suspension = Suspension {
                    if suspensions.count.isMultiple(of: 2) { suspensions.change() }
                    await screen.stop()
                } comeBack: {
                    try await screen.comeBack()
                    suspensions.change()
                }
                return try await suspension.nextSignal(of: signals)
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// Returns when nothing is left to show; what was taken off the screen because of a suspension
    /// is left.
    private static func waitUntilAllIsShown(
        by managers: [AlertManager], _ suspensions: ChangeSignal
    ) async throws {
        while !Task.isCancelled {
            let seen = suspensions.count
            guard seen.isMultiple(of: 2) else {
                await suspensions.wait(after: seen)
                continue
            }
            for manager in managers { try await manager.presentedAll() }
            if suspensions.count == seen { return }
        }
    }

    private static func run(_ logs: [EventLog]) async {
        await withTaskGroup { group in
            for log in logs { group.addTask { await log.run() } }
        }
    }

    private func close(_ screen: OwnScreen, _ logs: [EventLog]) async {
        // The last entries come only once the screen is detached.
        for log in logs { await log.prepareToEnd() }
        await screen.stop()
        for log in logs { await log.finish() }
        for manager in screen.managers { await manager.close() }
    }
}

// MARK: - From login on

extension PresentCommand {
    private func changeUnit(in context: Context) async throws -> [String] {
        let unit = try PresenterUnit(in: context)
        guard installs else { return try await unit.uninstall() }
        let program = try Program.path()
        let shown = chosen.usesTerminal ? PresenterSet([.desktop]) : chosen
        let words = [program, Self.name] + (try shown.words())
        return try await unit.install(words + queue.words)
    }
}

// MARK: - Queues

extension PresentCommand {
    /// The managers of all queues that this terminal serves. They share it by turns.
    private func open(
        sharing turn: PresentationTurn, in context: Context
    ) async throws -> [AlertManager] {
        let system = QueueLocation.systemPath
        let isForBoth = queue.isDefault && queue.path != system && Self.isPermitted(system)
        var others: [AlertManager] = []
        if isForBoth {
            do {
                others.append(
                    try await QueueChoice.manager(
                        path: system, via: Self.name, turn: turn, queueName: "the system queue"))
            } catch {
                // The user's own alerts need not wait for the administrator.
                context.note("\(Self.name): the system queue is left out: \(error)")
            }
        }
        do {
            let name = others.isEmpty ? nil : "your own queue"
            let own = try await ServerWait(in: context).run {
                try await QueueChoice.manager(
                    path: queue.path, via: Self.name, turn: turn, queueName: name)
            }
            return [own] + others
        } catch {
            for other in others { await other.close() }
            throw error
        }
    }

    /// Whether the directory of a queue is there and may be written; see access(2).
    private static func isPermitted(_ path: String) -> Bool {
        access(FilePath.directory(of: path), R_OK | W_OK | X_OK) == 0
    }

    /// Says in one line where alerts are shown, of which queues, how many wait there, and who shows
    /// them now; another one says what to do about a screen that does not move.
    private func noteWhatIsShown(_ managers: [AlertManager], _ context: Context) async {
        var queues: [String] = []
        for manager in managers {
            var state = (try? await manager.pendingCount()).map { [WaitingText.count($0)] } ?? []
            var others = await manager.screens()
            others.leaveOut(manager.process)
            if let identities = others.identities {
                state.append("also shown by \(identities)")
            } else if let showing = others.showing {
                state.append("alerts \(showing)")
            }
            let suffix = state.isEmpty ? "" : " (\(state.joined(separator: "; ")))"
            queues.append(manager.place + suffix)
        }
        let names = chosen.kinds.map(\.name).joined(separator: ", ")
        let screens = chosen.kinds == [.terminal] ? "in this terminal" : "on \(names)"
        context.note(
            "showing alerts \(screens), of \(queues.joined(separator: " and of ")); Ctrl-C stops")
        for manager in managers {
            if let advice = await manager.screens().advice { context.note(advice) }
        }
    }
}
