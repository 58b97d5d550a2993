import AlertCore
import Synchronization

/// Shows alerts in windows, through the dialog program of the desktop: zenity, or else kdialog.
///
/// A window has every button and "Later"; closing it means "Later", too. A window that is answered
/// or closed within 0.7 seconds is shown again: the key or click was not meant for it. A program
/// that ends with an exit code other than those that it documents for a person's act has failed.
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
        return try await show.present(
            presentation,
            through: program.attempt(
                presentation.alert, text, path: path, on: server, without: missing))
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
