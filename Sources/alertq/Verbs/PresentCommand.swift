import AlertPresenters
import AlertQueue
import Glibc

/// `alertq present`: shows alerts to a person, one at a time.
package struct PresentCommand: Command {
    package static let name = "present"
    package static let abstract = "Show alerts, in this terminal or elsewhere, until stopped"
    package static let options = [on, once]
    package static let discussion = [
        """
        Alerts are shown one at a time. With several presenters, all of them show the same \
        alert; the first answer wins, and the others clear. They are:
        """,
        """
        terminal: this terminal.
        """,
        """
        desktop: notifications of your desktop, through its message bus. Closing one means later.
        """,
        """
        dialog: windows on your desktop, through zenity or kdialog. Closing one means later.
        """,
        """
        command:PROGRAM: a program of your own, by its path or its name in $PATH. It reads the \
        alert as one line of JSON, as show --json prints it, and prints the id of the chosen \
        button. If it ends without printing anything, the alert comes again later; SIGTERM means \
        that it was resolved elsewhere. The first such program gets the terminal, unless the \
        terminal is a presenter too.
        """,
        """
        It serves your own queue and, where you may, the system queue; with --database, --system \
        or $ALERTQ_DATABASE only that one. While another process shows a queue's alerts, it waits \
        for its turn.
        """,
    ]

    static let on = Option(
        "on", "PRESENTER", isRepeatable: true,
        help: "Show them there; on the terminal unless given")
    static let once = Option("once", help: "Stop when nothing is left to show")

    private let queue: QueueChoice
    private let chosen: PresenterSet
    private let isOnce: Bool

    package init(_ arguments: Arguments) throws {
        queue = try QueueChoice(arguments)
        chosen = try PresenterSet(arguments.values(Self.on))
        isOnce = arguments.has(Self.once)
    }

    package func run(in context: Context) async throws -> ExitCode {
        let terminal = chosen.usesTerminal ? try foregroundTerminal() : nil
        let presenters = try chosen.presenters(in: context)
        let signals = SignalWatch(stops: true)
        let managers = try await open(in: context)
        let screen = OwnScreen(
            managers: managers, terminal: terminal, presenters: presenters, only: nil)
        tellWhoHolds(managers, context)
        let place = chosen.kinds == [.terminal] ? "in this terminal" : "on \(names)"
        context.note("showing alerts \(place); Ctrl-C stops")
        let signal: Int32?
        do {
            signal = try await serve(screen, signals)
        } catch {
            await close(screen)
            throw error
        }
        await close(screen)
        if let signal { throw Interruption(signal: signal) }
        return .done
    }

    private var names: String { chosen.kinds.map(\.name).joined(separator: ", ") }

    private func foregroundTerminal() throws -> ControllingTerminal {
        guard let terminal = ControllingTerminal(), terminal.isForeground else {
            throw UsageError("it needs a terminal, and to be its foreground job")
        }
        return terminal
    }

    /// Shows alerts until a signal comes, or until nothing is left with `--once`.
    private func serve(_ screen: OwnScreen, _ signals: SignalWatch) async throws -> Int32? {
        try await withThrowingTaskGroup(of: Int32?.self) { group in
            await screen.start()
            if isOnce {
                group.addTask {
                    for manager in screen.managers { await manager.presentedAll() }
                    return nil
                }
            }
            group.addTask {
                for await signal in signals.events {
                    guard signal == SIGTSTP else { return signal }
                    try await screen.suspend()
                    await screen.start()
                }
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func close(_ screen: OwnScreen) async {
        await screen.stop()
        for manager in screen.managers { await manager.close() }
    }
}

// MARK: - Queues

extension PresentCommand {
    /// The managers of all queues that this terminal serves. They share it by turns.
    private func open(in context: Context) async throws -> [AlertManager] {
        let turn = PresentationTurn()
        var managers = [
            try await QueueChoice.manager(path: queue.path, via: Self.name, turn: turn)
        ]
        let system = QueueLocation.systemPath
        guard try servesSystem(in: context), queue.path != system, Self.isPermitted(system) else {
            return managers
        }
        do {
            managers.append(
                try await QueueChoice.manager(path: system, via: Self.name, turn: turn))
        } catch {
            // One's own alerts need not wait for the administrator.
            context.note("\(Self.name): the system queue is left out: \(error)")
        }
        return managers
    }

    private func servesSystem(in context: Context) throws -> Bool {
        guard queue == .standard else { return false }
        return try context.variables("ALERTQ_DATABASE") == nil
    }

    /// Whether the directory of a queue is there and may be written; see access(2).
    private static func isPermitted(_ path: String) -> Bool {
        access(QueuePresence.directory(of: path), R_OK | W_OK | X_OK) == 0
    }

    private func tellWhoHolds(_ managers: [AlertManager], _ context: Context) {
        for manager in managers {
            guard let holder = manager.slotHolder() else { continue }
            context.note(
                "the alerts of \(manager.path) are shown by \(holder.place); waiting for a turn"
            )
        }
    }
}
