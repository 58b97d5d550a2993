#if Desktop
    import AlertCore

    /// Shows alerts as notifications of the desktop, through its message bus.
    ///
    /// Buttons become actions; a server that has none shows how to answer instead. A notification
    /// that a person closes puts its alert off. One that the server closes, or that is lost with
    /// the server or with the bus, is shown again after 1, 2 and 4 s. After four failures in a row
    /// its alert is left to other presenters, and this one rests for up to a minute. No
    /// notification is left when this process dies, however that happens: a small shell beside it
    /// closes it then, with busctl(1), gdbus(1) or dbus-send(1).
    public struct DesktopPresenter: AlertPresenter {
        /// The command line that answers an alert with a button.
        public typealias Answering = @Sendable (_ id: Alert.ID, _ button: String) -> String

        public let name = "desktop"
        private var answering: Answering
        private let log: @Sendable (String) -> Void
        private let users = UserNames()
        private let host: String

        /// Finds the message bus and its notification server.
        ///
        /// - Parameter log: Takes one line for each failure; by default it goes to the standard
        ///   error.
        /// - Throws: ``DesktopError``.
        public init(
            log: @escaping @Sendable (String) -> Void = StandardLog.write
        ) throws(DesktopError) {
            answering = { "alertq answer \($0) '\($1)'" }
            self.log = log
            host = Identity.current.host
            do {
                let stop = try StopSwitch()
                var server = try NotificationServer()
                try server.find(stop)
            } catch {
                throw DesktopError(error)
            }
        }

        /// The same presenter, with other instructions where the server has no buttons.
        public func answering(_ answering: @escaping Answering) -> DesktopPresenter {
            var presenter = self
            presenter.answering = answering
            return presenter
        }

        /// Shows an alert, and returns what the person chose.
        ///
        /// - Throws: `CancellationError` when its task is cancelled; ``DesktopError`` when the
        ///   server or the bus fails four times; ``ProgramError`` when the server takes the
        ///   notification off the screen four times.
        public func present(_ presentation: Presentation) async throws -> PresenterChoice {
            let user = try await users.soon(presentation.record.source.uid)
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
        /// There is no message bus, or it can't be reached.
        case noBus(String)
        /// Nothing on the bus shows notifications.
        case noServer(String)

        init(_ error: any Error) {
            switch error {
            case BusError.refused(_, let message): self = .noServer(message)
            case BusError.lost(let reason): self = .noBus(reason)
            default: self = .noBus("\(error)")
            }
        }
    }

    extension DesktopError: CustomStringConvertible {
        public var description: String {
            switch self {
            case .noBus(let reason):
                "there is no desktop here: its message bus can't be reached: \(reason)"
            case .noServer(let reason):
                "nothing shows notifications on this desktop (\(reason)); "
                    + "install a notification server, on Debian for example: apt-get install dunst"
            }
        }
    }
#endif
