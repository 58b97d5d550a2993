import AlertCore
import Linux
import TextFormats

/// Shows alerts as desktop notifications, through the user's message bus.
///
/// Buttons become actions; where the server supports none, the notification says how to answer
/// instead. So it does for a button that needs the values of fields, unless there is only one
/// field and the server takes a text for it (the capability `inline-reply`), and for every button
/// but the one that cancels where the message is cut. Closing a notification snoozes its alert. What
/// is done within 0.75 seconds after it has appeared was not meant for it, and it comes again. A
/// notification that another program closes, or that is lost with the server or the bus, is shown
/// again after 1, 2 and 4 s. After four failures in a row the alert is left to other presenters, and this one pauses for up to a
/// minute. One that the server lets time out, although it is asked not to, comes again after 1
/// s, then after 2, 4 and so on up to 5 minutes; if it has no buttons, it has been shown, and does
/// not come again. No notification stays on the screen when this process dies, however that happens,
/// once the server has said that it shows it: a small helper shell then closes it, with busctl(1),
/// gdbus(1) or dbus-send(1).
public struct DesktopPresenter: AlertPresenter {
    /// Returns the command line that answers an alert with a button, by its id, and with values for
    /// fields.
    public typealias Answering =
        @Sendable (_ id: Alert.ID, _ button: String, _ fields: [Alert.Field]) -> String

    public let name = "desktop"
    private var answering: Answering
    private let log: @Sendable (String) -> Void
    private let users = UserNames()
    private let host: String

    /// Finds the message bus and its notification server.
    ///
    /// - Parameter log: Receives one line for each failure; writes to the standard error by
    ///   default.
    /// - Throws: ``DesktopError``.
    public init(
        log: @escaping @Sendable (String) -> Void = StandardLog.write
    ) throws(DesktopError) {
        answering = { id, button, fields in
            let values = fields.map { " --set " + ShellText.quoted($0.id) + "=…" }.joined()
            return "alertq answer" + values + " -- \(id) " + ShellText.quoted(button)
        }
        self.log = log
        host = ProcessIdentity.current.host
        do {
            let stop = try StopSwitch()
            var server = try NotificationServer()
            try server.find(stop)
        } catch {
            throw DesktopError(error)
        }
    }

    /// Returns the same presenter with other instructions for servers without actions.
    public func answering(_ answering: @escaping Answering) -> DesktopPresenter {
        var presenter = self
        presenter.answering = answering
        return presenter
    }

    /// Shows an alert, and returns what the person chose.
    ///
    /// - Throws: `CancellationError` when its task is cancelled; ``DesktopError`` when the
    ///   server or the bus fails four times; ``ProgramError`` when another program closes the
    ///   notification four times.
    public func present(_ presentation: Presentation) async throws -> PresenterChoice {
        let user = try await users.soon(presentation.record.source.principal)
        let text = AlertText(presentation, user: user, host: host, lines: 10)
        let session = NotificationSession(
            record: presentation.record, text: text, answering: answering,
            log: log, appeared: { Task { await presentation.didAppear() } })
        let choice = try await Blocking.run("alertq.desktop") { try session.run($0) }
        try Task.checkCancellation()
        return choice
    }

    /// Logs that a choice could not be stored; its notification comes again.
    public func didFail(_ presentation: Presentation, error: AlertError) async {
        log("alert \(presentation.record.id): the answer was not stored: \(error)")
    }
}

/// Why notifications can't be shown.
public enum DesktopError: Error, Sendable, Hashable {
    /// The library that speaks with the message bus can't be loaded; the reason names its package.
    case noLibrary(String)
    /// There is no message bus, or it can't be reached.
    case noBus(String)
    /// Nothing on the bus shows notifications.
    case noServer(String)

    init(_ error: any Error) {
        switch error {
        case BusError.refused(_, let message): self = .noServer(message)
        case BusError.noLibrary(let library): self = .noLibrary("\(library)")
        case BusError.lost(let reason): self = .noBus(reason)
        default: self = .noBus("\(error)")
        }
    }
}

extension DesktopError: LoggedError {
    package var logged: String {
        // A server may repeat in its error what it was to show.
        if case .noServer = self { return "nothing shows notifications on this desktop" }
        return SafeText.line("\(self)")
    }
}

extension DesktopError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noLibrary(let reason):
            "a desktop notification \(reason)"
        case .noBus(let reason):
            "there is no desktop here: its message bus can't be reached: \(reason)"
        case .noServer(let reason):
            "nothing shows notifications on this desktop (\(reason)); "
                + "install a notification server, on Debian for example: apt-get install dunst"
        }
    }
}
