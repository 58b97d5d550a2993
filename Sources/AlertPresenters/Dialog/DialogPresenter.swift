import AlertCore
import Synchronization

/// Shows alerts in windows, through the dialog program of the desktop: zenity, or else kdialog.
///
/// A window has every button and "Later"; closing it means "Later", too. After a button other than
/// the cancel button, a window for each field asks for its value; closing that leads back to the
/// buttons. A message, labels or a value that a window doesn't show whole come before it, in windows
/// that each lead to the next. What is done within 0.75 seconds after a window has appeared was not meant for it, and
/// the window is shown again. No program says when its window appears; so 1.5 seconds are counted
/// from its start, without those in which it computes. A program that ends with an exit code other than those that it documents
/// for a person's act has failed.
///
/// The window appears on the Wayland display if that answers, and otherwise on the X display.
///
/// ```swift
/// let manager = try await AlertManager(path: path, presenters: [try DialogPresenter()])
/// ```
public struct DialogPresenter: AlertPresenter {
    public let name = "dialog"
    private let program: DialogProgram
    private let path: String
    private let show: ProgramShow
    private let users = UserNames()
    private let host: String
    private let version = Version()
    /// How many lines of a message fit on a small screen, together with everything else.
    private static let lines = 20

    /// Finds a display and a program.
    ///
    /// - Parameter log: Receives one line for each failure; by default, writes it to the standard
    ///   error.
    /// - Throws: ``DialogError``.
    public init(
        log: @escaping @Sendable (String) -> Void = StandardLog.write
    ) throws(DialogError) {
        guard let display = DisplayServer.name else { throw .noDisplay }
        guard DisplayServer.current != nil else { throw .noAnswer(display: display) }
        let found = DialogProgram.allCases.lazy.compactMap { program in
            ProgramSearch.path(of: program.rawValue).map { (program, $0) }
        }
        guard let (program, path) = found.first else { throw .noProgram }
        self.program = program
        self.path = path
        host = ProcessIdentity.current.host
        show = ProgramShow(name: "dialog", log: log)
    }

    /// Shows an alert, and returns what the person chose.
    ///
    /// - Throws: `CancellationError` when its task is cancelled; ``ProgramError`` when the program
    ///   fails three times.
    public func present(_ presentation: Presentation) async throws -> PresenterChoice {
        let user = try await users.soon(presentation.record.source.principal)
        let text = AlertText(presentation, user: user, host: host, lines: Self.lines)
        // A server that is busy answers late.
        let server = try await Blocking.run("alertq.display") { _ in DisplayServer.current ?? .x }
        let missing = await version.missingOptions(of: program, path: path, on: server)
        let alert = presentation.alert
        func run<Choice>(_ attempt: ProgramShow.Attempt<Choice>) async throws -> Choice {
            do {
                return try await show.present(presentation, through: attempt)
            } catch let error as ProgramError {
                // It may be another version by now.
                version.forget()
                throw error
            }
        }
        /// Shows a window with buttons.
        func window(_ alert: Alert, _ message: String) async throws -> PresenterChoice {
            try await run(
                program.attempt(
                    alert, text.with(message), path: path, on: server, without: missing))
        }
        let labels = DialogProgram.longRows(DialogLabels(alert).buttons)
        let pages = text.pages + AlertText.pages(labels, of: Self.lines)
        guard !alert.buttons.isEmpty else { return try await window(alert, text.message) }
        if let choice = try await read(pages.dropLast(), of: alert, window: window) {
            return choice
        }
        var entered: [String: [String]] = [:]
        // The fields of which all has been shown.
        var shown: Set<String> = []
        while true {
            let choice = try await window(alert, pages[pages.count - 1])
            guard case .button(let index, _) = choice, alert.buttons[index].role != .cancel else {
                return choice
            }
            let end = try await fill(&entered, alert) { field, texts, problem in
                let pages = program.pages(of: field, with: texts, lines: Self.lines)
                if shown.insert(field.id).inserted, !pages.isEmpty {
                    var asked = alert
                    asked.buttons = [.cancel("Back")]
                    let choice = try await read(pages, of: asked, window: window)
                    if choice != nil { shown.remove(field.id) }
                    if case .later? = choice { return .later }
                    if choice != nil { return .back }
                }
                try program.check(texts, of: field)
                return try await run(
                    program.attempt(
                        field, of: alert, with: texts, after: problem, path: path, on: server,
                        without: missing))
            }
            switch end {
            case .filled(let values): return .button(index, Alert.Input(values: values))
            case .later: return .later(nil)
            case .back: break
            }
        }
    }

    /// Shows parts of a text one after another, each with a button that leads on, beside the one that
    /// cancels.
    ///
    /// - Returns: What the person did instead of reading on; `nil` if all was shown.
    private func read(
        _ pages: [String], of alert: Alert,
        window: (Alert, String) async throws -> PresenterChoice
    ) async throws -> PresenterChoice? {
        let cancel = alert.buttons.firstIndex { $0.role == .cancel }
        for (index, page) in pages.enumerated() {
            var part = alert
            let onwards = Alert.Button("Read on (\(index + 1) of \(pages.count))", id: "read on")
            part.buttons = [onwards] + (cancel.map { [alert.buttons[$0]] } ?? [])
            switch try await window(part, page) {
            case .button(0, _): continue
            case .button: return .button(cancel ?? 0)
            case let other: return other
            }
        }
        return nil
    }

    /// How the windows of fields end.
    private enum FormEnd {
        case filled([String: Alert.Value])
        /// Back to the buttons.
        case back
        case later
    }

    /// Asks for the values of an alert's fields, one after another, each until its value fits.
    ///
    /// - Parameter entered: What has been entered, by the fields' ids; it is there again when the
    ///   person comes back.
    private func fill(
        _ entered: inout [String: [String]], _ alert: Alert,
        ask: (Alert.Field, _ texts: [String], _ problem: String?) async throws -> FieldReply
    ) async throws -> FormEnd {
        var values: [String: Alert.Value] = [:]
        for field in alert.fields {
            var problem: String?
            repeat {
                let shown = entered[field.id] ?? field.initialTexts
                let reply = try await ask(field, shown, problem)
                guard let text = reply.text else { return reply == .later ? .later : .back }
                let texts = field.texts(replied: text)
                entered[field.id] = texts
                if case .early = reply {
                    problem = "That came at once: is it what you mean?"
                    continue
                }
                do throws(AlertError) {
                    let value = try field.value(typed: texts)
                    values[field.id] = value ?? field.emptied
                    problem = field.misses(value) ? Alert.Field.missing : nil
                } catch {
                    problem = Alert.Field.refusal(error)
                }
            } while problem != nil
        }
        return .filled(values)
    }

    /// Logs that a choice could not be stored; the alert comes again.
    public func didFail(_ presentation: Presentation, error: AlertError) async {
        show.log("alert \(presentation.record.id): the answer was not stored: \(error)")
    }

    /// What is known about the installed version of the program.
    private final class Version: Sendable {
        private let missing = Mutex<Set<String>?>(nil)

        func missingOptions(
            of program: DialogProgram, path: String, on server: DisplayServer
        ) async -> Set<String> {
            if let known = missing.withLock({ $0 }) { return known }
            let found = await program.missingOptions(path: path, on: server)
            missing.withLock { $0 = found }
            return found ?? []
        }

        func forget() { missing.withLock { $0 = nil } }
    }
}
