import AlertCore
import Synchronization

/// Shows alerts in windows, through the dialog program of the desktop: zenity, or else kdialog.
///
/// A window has every button and "Later"; closing it means "Later", too. After a button other than
/// the cancel button, a window for each field asks for its value; closing that leads back to the
/// buttons. What is done within 0.75 seconds after a window has appeared was not meant for it, and
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
        let user = try await users.soon(presentation.record.source.account)
        let text = AlertText(presentation, user: user, host: host, lines: Self.lines)
        // A server that is busy answers late.
        let server = try await Blocking.run("alertq.display") { _ in DisplayServer.current ?? .x }
        let missing = await version.missingOptions(of: program, path: path, on: server)
        let alert = presentation.alert
        var entered: [String: [String]] = [:]
        while true {
            let choice = try await show.present(
                presentation,
                through: program.attempt(alert, text, path: path, on: server, without: missing))
            guard case .button(let index, _) = choice, alert.buttons[index].role != .cancel else {
                return choice
            }
            let values = try await values(of: alert, &entered) { field, texts, problem in
                try await show.present(
                    presentation,
                    through: program.attempt(
                        field, of: alert, with: texts, after: problem, path: path, on: server,
                        without: missing))
            }
            if let values { return .button(index, Alert.Input(values: values)) }
        }
    }

    /// Asks for the values of an alert's fields, one after another, each until its value fits;
    /// `nil` if the person goes back to the buttons.
    ///
    /// - Parameter entered: What has been entered, by the fields' ids; it is there again when the
    ///   person comes back.
    private func values(
        of alert: Alert, _ entered: inout [String: [String]],
        ask: (Alert.Field, _ texts: [String], _ problem: String?) async throws -> FieldReply
    ) async throws -> [String: Alert.Value]? {
        var values: [String: Alert.Value] = [:]
        for field in alert.fields {
            var problem: String?
            repeat {
                let shown = entered[field.id] ?? field.initialTexts
                let reply = try await ask(field, shown, problem)
                guard let text = reply.text else { return nil }
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
        return values
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
    }
}
