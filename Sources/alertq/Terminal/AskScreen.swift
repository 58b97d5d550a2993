import AlertPresenters
import AlertQueue
import FoundationEssentials
import Glibc
import TextFormats

/// How a waiting `ask` uses its own terminal.
///
/// It shows its alert while that is the current one. While another alert is current, it prints how
/// many come first, and Enter shows its own alert here, as text.
actor AskScreen {
    private enum State { case background, waiting, showing, prompting, finished }

    private let manager: AlertManager
    private let record: AlertRecord
    private let context: Context
    private let terminal: ControllingTerminal
    private let base: TerminalPresenter
    private var state = State.background
    /// Whether the presenter has shown how the alert ended.
    private(set) var hasPrintedResult = false
    private var prompting: Task<PresenterChoice, any Error>?
    /// Whether it is one of the queue's screens.
    private var isAttached = false
    /// The current alert that the person knows of.
    private var noted: Alert.ID?
    private let entered: AsyncStream<Void>
    private let enter: AsyncStream<Void>.Continuation

    init(
        _ record: AlertRecord, manager: AlertManager, terminal: ControllingTerminal,
        isPlain: Bool, context: Context
    ) throws {
        self.manager = manager
        self.record = record
        self.context = context
        self.terminal = terminal
        base = try TerminalPresenter(isPlain: isPlain)
        (entered, enter) = AsyncStream.makeStream(of: Void.self)
    }

    /// Shows the alert in one way or the other until the task is cancelled; in the background, as
    /// after `ask … &`, it shows nothing before `fg`.
    func run() async {
        do { try await terminal.waitForForeground() } catch { return }
        guard state == .background else { return }
        state = .waiting
        terminal.discardInput()
        await startScreen()
        takeKeyboard()
        await withTaskGroup { group in
            group.addTask { await self.noteWhatComesFirst() }
            for await _ in entered { await prompt() }
            group.cancelAll()
        }
    }

    /// Leaves the screen, before the result is printed.
    func finish() async {
        state = .finished
        base.stopIdling()
        await screen.stop()
    }

    /// Leaves the screen before the process stops, as Ctrl-Z asks for.
    func leave() async {
        if state == .prompting {
            state = .waiting
            noted = nil
        }
        base.stopIdling()
        prompting?.cancel()
        _ = try? await prompting?.value
        await screen.stop()
    }

    /// Shows the alert again once the job is in the foreground, after Ctrl-Z.
    func comeBack() async throws {
        try await terminal.waitForForeground()
        guard state == .waiting || state == .showing else { return }
        await startScreen()
        takeKeyboard()
    }

    /// Shows the alert here when its turn comes; if there is no room for one more screen, Enter
    /// still works, and it is tried again.
    private func startScreen() async {
        isAttached = false
        do { try await attach() } catch { say("\(error)\(howToAnswerHere)") }
    }

    private func attach() async throws {
        try await screen.start()
        isAttached = true
    }

    private var howToAnswerHere: String {
        record.alert.buttons.isEmpty ? "" : "; press Enter to answer here"
    }

    private var screen: OwnScreen {
        let presenter = HandOver(base: base, screen: self)
        return OwnScreen(
            managers: [manager], terminal: terminal, presenters: { _ in [presenter] },
            only: record.id)
    }
}

// MARK: - Turns at the keyboard

extension AskScreen {
    /// Lets the presenter have the keyboard; `false` while a person answers in text.
    fileprivate func willShow() -> Bool {
        guard state == .waiting else { return false }
        state = .showing
        return true
    }

    /// Unless a choice has been made, Enter answers here again: then the result is on its way, and a
    /// key that was pressed once too often must not open the text prompt.
    fileprivate func didHide(hasChosen: Bool) {
        guard state == .showing else { return }
        state = .waiting
        if hasChosen { base.stopIdling() } else { takeKeyboard() }
    }

    fileprivate func noteSnooze() {
        guard !record.alert.buttons.isEmpty, state == .waiting else { return }
        say("to answer alert \(record.id) before that, press Enter")
    }

    fileprivate func didPrintResult() { hasPrintedResult = true }

    private func takeKeyboard() {
        guard !record.alert.buttons.isEmpty else { return }
        base.startIdling { [enter] in enter.yield() }
    }
}

// MARK: - Another current alert

extension AskScreen {
    /// Prints a line once for each alert that comes first, while its own one is not on this screen;
    /// attaches the screen as soon as there is room for it.
    private func noteWhatComesFirst() async {
        while !Task.isCancelled {
            if state == .waiting, !isAttached { try? await attach() }
            // A cancelled sleep ends at once, and so does the loop.
            guard let other = await otherAlert() else {
                try? await Task.sleep(for: .seconds(1))
                continue
            }
            // An alert that is about to leave is not worth a line.
            try? await Task.sleep(for: .milliseconds(200))
            if !Task.isCancelled, await otherAlert() == other { await note(of: other) }
        }
    }

    /// The current alert, if it is another one and the person does not know of it.
    private func otherAlert() async -> Alert.ID? {
        guard state == .waiting, let current = await manager.screens().current,
            current != record.id, current != noted
        else { return nil }
        return current
    }

    private func note(of other: Alert.ID) async {
        noted = other
        let screens = await manager.screens()
        let before = (try? await manager.alertsBefore(record.id)) ?? 0
        // Its turn has come meanwhile.
        guard before > 0 else { return }
        let line = screens.whereabouts(of: record.id) ?? "alert \(record.id) waits for its turn"
        say("\(line); \(WaitingText.before(before))\(howToAnswerHere)")
    }

    private func say(_ line: String) {
        context.inform(line)
        // The person sits at the terminal, wherever stderr goes.
        if context.isQuiet || !context.errors.isTerminal {
            terminal.write("alertq: \(SafeText.line(line))\n")
        }
    }
}

// MARK: - Answering in text

extension AskScreen {
    private func prompt() async {
        guard state == .waiting else { return }
        state = .prompting
        base.stopIdling()
        await screen.stop()
        guard state == .prompting else { return }
        do {
            let prompting = Task { [base, record, manager] in
                try await base.ask(
                    .asText(record) { manager.noteAppearance(of: record, on: base.name) },
                    emptyLine: "leave it waiting")
            }
            self.prompting = prompting
            let choice = try await withTaskCancellationHandler {
                try await prompting.value
            } onCancel: {
                prompting.cancel()
            }
            if case .button(let index, _) = choice, state == .prompting {
                await answer(record.alert.buttons[index])
            }
        } catch {
            // The terminal has gone, or the result came first; both end this in their own way.
        }
        prompting = nil
        guard state == .prompting else { return }
        state = .waiting
        noted = nil
        await startScreen()
        if state == .waiting { takeKeyboard() }
    }

    private func answer(_ button: Alert.Button) async {
        do {
            _ = try await manager.answer(record.id, button: button.id, as: .person)
        } catch {
            // No matter who was first, the result comes to the waiting `ask` in its own way.
            say("\(error)")
        }
    }
}

extension Presentation {
    /// An alert that is shown outside its turn, because its asker wants to answer it.
    fileprivate static func asText(
        _ record: AlertRecord, appeared: @escaping @Sendable () -> Void
    ) -> Presentation {
        let clock = SystemClock()
        let expiry = record.expiresAt.map {
            clock.now().advanced(by: .seconds($0.timeIntervalSinceNow))
        }
        return Presentation(
            record: record, waitingCount: 0, expiry: expiry, clock: clock, appeared: appeared,
            dismissal: { nil })
    }
}

/// The terminal presenter, with the keyboard handed over before and after.
private struct HandOver: AlertPresenter {
    let base: TerminalPresenter
    let screen: AskScreen

    var name: String { base.name }

    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        guard await screen.willShow() else { throw CancellationError() }
        do {
            let choice = try await base.present(presentation)
            let hasChosen = if case .button = choice { true } else { false }
            await screen.didHide(hasChosen: hasChosen)
            return choice
        } catch {
            await screen.didHide(hasChosen: false)
            throw error
        }
    }

    func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {
        await base.didResolve(presentation, response: response, choseHere: choseHere)
        await screen.didPrintResult()
    }

    func didSnooze(_ presentation: Presentation, until date: Date) async {
        await base.didSnooze(presentation, until: date)
        await screen.noteSnooze()
    }

    func didFail(_ presentation: Presentation, error: AlertError) async {
        await base.didFail(presentation, error: error)
    }
}
