import AlertPresenters
import AlertQueue
import Glibc

/// The presenters of this process as a screen for alerts, of one queue or of several.
struct OwnScreen: Sendable {
    let managers: [AlertManager]
    /// The terminal that the alerts are shown in; `nil` where they are shown elsewhere.
    let terminal: ControllingTerminal?
    /// The presenters that show the alerts of the queue at a path.
    let presenters: @Sendable (_ path: String) -> [any AlertPresenter]
    /// The only alert to be shown; `nil` for all of them.
    let only: Alert.ID?
    /// Whether this process writes what happens on any screen to the machine's log.
    var keepsLog = false

    /// Shows alerts from now on.
    ///
    /// - Throws: ``AlertError/busy(_:)`` where a queue has no room for another screen.
    func start() async throws(AlertError) {
        for manager in managers {
            let presenters = presenters(manager.path)
            for case let presenter as TerminalPresenter in presenters { presenter.startIdling() }
            try await manager.startPresenting(presenters, only: only, keepsLog: keepsLog)
        }
    }

    /// Takes what is shown off the screen, detaches it, and leaves the terminal in order.
    func stop() async {
        // Each may have to wait for its alert to leave; together they wait once.
        await withTaskGroup { group in
            for manager in managers { group.addTask { await manager.stopPresenting() } }
        }
        for presenter in managers.flatMap({ presenters($0.path) }) {
            (presenter as? TerminalPresenter)?.stopIdling()
        }
        TerminalPresenter.restore()
    }

    /// Shows alerts again once the job is in the foreground, after Ctrl-Z.
    ///
    /// - Throws: The errors of ``start()``, and `CancellationError`.
    func comeBack() async throws {
        try await terminal?.waitForForeground()
        try await start()
    }
}
