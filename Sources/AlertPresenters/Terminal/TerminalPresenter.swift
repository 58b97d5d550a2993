import AlertCore
import FoundationEssentials
import Linux
import Synchronization
import TextFormats

/// Shows alerts in a terminal, below the existing text, and takes keys as answers.
///
/// It opens the terminal itself and never touches stdin and stdout, which may well be pipes. Arrow
/// keys and Tab select a button, Enter chooses it, first letters and digits are shortcuts; a
/// destructive button always takes Enter. A `dumb` terminal gets a numbered prompt, which asks for
/// the values of fields line by line, after the button.
///
/// Fields stand above the buttons, and the first one takes the keys; Tab and the arrows move from
/// one to the next, and to the buttons, which then take Enter alone. `+` adds a note to the answer.
///
/// A button that doesn't cancel counts once all of the alert's text, its fields, options and initial
/// values have been on the screen; until then Enter on it scrolls to what has not been. `?` explains
/// the keys.
///
/// An alert takes keys once it has been visible for 750 ms without any typing; until then it says
/// “stop typing to answer”. Pasted text and the repeats of a held key choose nothing, nor can a
/// button be chosen that is not on the screen, which needs at least 10 columns and 4 lines.
///
/// ```swift
/// let manager = try await AlertManager(path: path, presenters: [try TerminalPresenter()])
/// ```
///
/// While an alert is shown, the terminal is in "cbreak" mode; see termios(3). Its mode is restored
/// when the alert leaves the screen, when the process ends, and when it crashes. Setting `NO_COLOR`
/// turns colours off (no-color.org). Where the locale is not one of UTF-8, only ASCII is written; a
/// character of the alert's texts beyond that appears as its code point, such as `<U+00E9>`.
public final class TerminalPresenter: AlertPresenter, Sendable {
    /// `terminal`.
    public let name = "terminal"

    let terminal: Terminal
    private let screen: TerminalScreen
    private let turn = PresentationTurn()
    private let users = UserNames()
    private let host: String
    private let hasScreen: Bool
    /// The button that was chosen here last, and for which alert.
    private let lastChoice = Mutex<(id: Alert.ID, title: String)?>(nil)
    /// What was filled in here, for the last alerts that have not ended: it comes back with a snoozed
    /// alert, and with one whose answer could not be stored.
    private let drafts = Mutex<[Draft]>([])
    private let idle = Mutex(Idle())
    private static let draftLimit = 16

    private struct Draft {
        let id: Alert.ID
        let askedAt: Date
        let form: AlertForm
    }

    /// Opens a terminal.
    ///
    /// - Parameters:
    ///   - device: The device; `/dev/tty` is the controlling terminal of the process, tty(4).
    ///   - isPlain: Whether an alert is written once, as a numbered prompt that is never redrawn:
    ///     for screen readers and terminal logs.
    /// - Throws: ``TerminalError/cannotOpen(device:reason:)`` or
    ///   ``TerminalError/notATerminal(device:)``.
    public convenience init(
        device: String = "/dev/tty", isPlain: Bool = false
    ) throws(TerminalError) {
        try self.init(
            device: device, term: isPlain ? "dumb" : LinuxProcess.environment("TERM"),
            hasColours: LinuxProcess.environment("NO_COLOR") == nil,
            characters: TerminalCharacters())
    }

    /// Opens a terminal of a given type, as in `TERM`; see term(7).
    package init(
        device: String, term: String?, hasColours: Bool, characters: TerminalCharacters = .all,
        clock: any TerminalClock = SystemTerminalClock()
    ) throws(TerminalError) {
        terminal = try Terminal(device: device, characters: characters, clock: clock)
        screen = TerminalScreen(terminal, hasColours: hasColours)
        host = ProcessIdentity.current.host
        hasScreen = (term ?? "dumb") != "dumb"
        _ = users.name(.account(.current))
    }

    /// Shows an alert, and returns what the person chose.
    ///
    /// - Throws: `CancellationError` when its task is cancelled; ``TerminalError`` when the
    ///   terminal has gone, or belongs to another job.
    public func present(_ presentation: Presentation) async throws -> PresenterChoice {
        // Several managers may share the screen.
        guard await turn.take() else { throw CancellationError() }
        defer { turn.end() }
        setShowing(true)
        defer { setShowing(false) }
        lastChoice.withLock { $0 = nil }
        _ = try await users.soon(presentation.record.source.principal)
        guard hasScreen, let input = try keyInput(hasScreen: true) else {
            return try await prompt(presentation)
        }
        let record = presentation.record
        let draft = drafts.withLock { drafts in
            drafts.first { $0.id == record.id && $0.askedAt == record.askedAt }?.form
        }
        var session = AlertSession(
            presentation, terminal: terminal, input: input, screen: screen, users: users,
            host: host, form: draft)
        do {
            defer { keep(Draft(id: record.id, askedAt: record.askedAt, form: session.form)) }
            let choice = try await session.run()
            session.mark(choice)
            async let marked: Void = session.stay()
            await handOver(choice, presentation)
            input.end()
            await marked
            await end(input)
            return choice
        } catch {
            await end(input)
            throw error
        }
    }

    /// Notes whether an alert has the keyboard.
    private func setShowing(_ isShowing: Bool) {
        idle.withLock { idle in
            idle.isShowing = isShowing
            idle.update(terminal)
        }
    }

    private func keep(_ draft: Draft) {
        drafts.withLock { drafts in
            drafts.removeAll { $0.id == draft.id }
            if draft.form != AlertForm([]) { drafts.append(draft) }
            drafts.removeFirst(max(0, drafts.count - Self.draftLimit))
        }
    }

    /// Shows an alert as a numbered prompt, in which Enter alone is ``PresenterChoice/close``.
    ///
    /// - Parameter emptyLine: What Enter alone does, such as “leave it waiting”.
    /// - Throws: As ``present(_:)`` does.
    package func ask(
        _ presentation: Presentation, emptyLine: String
    ) async throws -> PresenterChoice {
        guard await turn.take() else { throw CancellationError() }
        defer { turn.end() }
        _ = try await users.soon(presentation.record.source.principal)
        return try await prompt(presentation, emptyLine: emptyLine)
    }

    /// Leaves a note on the screen: what was chosen here, or how and by whom the alert was resolved
    /// elsewhere.
    ///
    /// The note takes one line if it fits. An alert without buttons leaves its message, too.
    public func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {
        drafts.withLock { $0.removeAll { $0.id == response.alertID } }
        let (alert, note) = (presentation.alert, note)
        let lines = note.resolved(alert, response: response, choseHere: choseHere)
        // A person whose choice came too late has to be notified, however the alert ended.
        let lost = choseHere ? nil : lastChoice.withLock { $0?.id == response.alertID ? $0 : nil }
        let regret = lost.map { note.lost($0.title) } ?? []
        // Where there is no screen to clear, the message is still there, above.
        let isGone = alert.buttons.isEmpty && hasScreen
        let message = isGone ? alert.message.map(note.message) : nil
        await say(lines + regret + (message ?? []))
    }

    /// Leaves a note on the screen, on one line if it fits: until when the alert was snoozed.
    public func didSnooze(_ presentation: Presentation, until date: Date) async {
        let expiry = AlertFacts(presentation, host: host).end
        await say(
            note.snoozed(presentation.alert.title, until: date, expiry: expiry, now: Date()))
    }

    /// Leaves a note on the screen, on one line if it fits: why the choice could not be stored.
    public func didFail(_ presentation: Presentation, error: AlertError) async {
        await say(note.failed(presentation.alert.title, error: error))
    }

    /// Takes the keyboard while nothing is shown, until ``stopIdling()``: what is typed is not
    /// echoed, and goes nowhere.
    ///
    /// - Parameter entered: Called when Enter is pressed, once until something has been shown or
    ///   this is called again.
    package func startIdling(entered: (@Sendable () -> Void)? = nil) {
        idle.withLock { $0.start(terminal, entered) }
    }

    /// Gives the keyboard back.
    package func stopIdling() { idle.withLock { $0.stop(terminal) } }

    /// Restores the mode and the cursor of every terminal of this process, at once.
    ///
    /// It may be called from a signal handler (signal-safety(7)), before the process stops or ends.
    package static func restore() {
        TerminalGuard.restoreAll()
    }
}

// MARK: - One presentation

extension TerminalPresenter {
    /// Hands a choice over while the alert stays on the screen, and remembers what was chosen.
    private func handOver(_ choice: PresenterChoice, _ presentation: Presentation) async {
        lastChoice.withLock {
            guard case .button(let index, _) = choice else {
                $0 = nil
                return
            }
            $0 = (presentation.record.id, presentation.alert.buttons[index].title)
        }
        await presentation.choose(choice)
    }

    /// Input key by key; `nil` if the terminal can't do that.
    private func keyInput(hasScreen: Bool) throws(TerminalError) -> TerminalInput? {
        do {
            return try TerminalInput(terminal, mode: .keys(hasScreen: hasScreen))
        } catch .failed {
            return nil
        } catch {
            throw error
        }
    }

    /// Takes the alert off the screen and restores the terminal.
    private func end(_ input: TerminalInput) async {
        // In the background, the screen belongs to another job.
        if terminal.isInForeground { screen.clear() } else { screen.forget() }
        input.stop()
        await terminal.drain(within: .milliseconds(200))
    }

    private func prompt(
        _ presentation: Presentation, emptyLine: String? = nil
    ) async throws -> PresenterChoice {
        let keys = try keyInput(hasScreen: false)
        let input = try keys ?? TerminalInput(terminal, mode: .lines)
        defer { input.stop() }
        let characters = terminal.characters
        let facts = AlertFacts(presentation, host: host, characters: characters)
        let user = users.name(presentation.record.source.principal)
        let later = emptyLine == nil ? facts.laterOptions(now: Date()) : []
        var session = PromptSession(
            presentation,
            prompt: NumberedPrompt(
                presentation.alert, laterOptions: later, emptyLine: emptyLine,
                characters: characters),
            terminal: terminal, input: input, echoes: input.hadEcho,
            facts: {
                facts.texts(
                    presentation.record, user: user, waiting: $0, dismissal: $1,
                    namesFields: true, now: Date())
            })
        do {
            let choice = try await session.run()
            await handOver(choice, presentation)
            return choice
        } catch {
            // The cursor is after the question.
            if terminal.isInForeground { terminal.write("\r\n") }
            await terminal.drain(within: .milliseconds(200))
            throw error
        }
    }

    private var note: AlertNote {
        AlertNote(columns: terminal.size.columns, characters: terminal.characters)
    }

    private func say(_ lines: [String]) async {
        guard terminal.isInForeground else { return }
        screen.print(lines.joined(separator: "\r\n"))
        await terminal.drain(within: .seconds(1))
    }
}
