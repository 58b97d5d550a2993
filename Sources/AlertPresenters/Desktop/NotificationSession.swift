import AlertCore

/// One alert as a notification, shown again and again until a person has reacted to it.
struct NotificationSession: Sendable {
    /// How often in a row it may fail before the alert is left to other presenters.
    private static let attempts = 4
    private static let pauses = Backoff(longest: .seconds(4))
    /// The pauses before a notification comes again that its server lets time out, although it
    /// is asked not to.
    private static let expiryPauses = Backoff(longest: .seconds(300))
    /// A notification that was on the screen for this long begins a new row of failures.
    private static let settledMicroseconds: UInt64 = 10_000_000
    /// What is done within this time was meant for what was there before, such as the second half of a
    /// double click.
    private static let silenceMicroseconds = UInt64(KeyGate.silence.milliseconds) * 1000
    /// How long after a notification has been closed its action may still be reported.
    private static let orderMicroseconds: UInt64 = 200_000

    /// The keeper's script: once this process has died, it closes the notification whose id it
    /// read last.
    private static let keeping = """
        PATH=/usr/bin:/bin; trap '' HUP INT QUIT TERM TSTP; id=0
        while read -r next; do id=$next; done
        [ "$id" != 0 ] || exit 0
        name=org.freedesktop.Notifications path=/org/freedesktop/Notifications
        busctl --user call $name $path $name CloseNotification u "$id" ||
        gdbus call --session -d $name -o $path -m $name.CloseNotification "$id" ||
        dbus-send --session --type=method_call --dest=$name $path \
        $name.CloseNotification "uint32:$id"
        """

    let record: AlertRecord
    let text: AlertText
    let answering: DesktopPresenter.Answering
    let log: @Sendable (String) -> Void
    let appeared: @Sendable () -> Void

    /// What became of one notification.
    private enum End {
        case chose(PresenterChoice)
        /// What they entered doesn't fit, and why.
        case refused(String)
        /// The server let it time out.
        case expired
        /// It left the screen otherwise, without any action of a person.
        case gone(String)
    }

    /// Shows the alert until a person has reacted to it.
    ///
    /// - Throws: `CancellationError` once the switch is thrown; ``DesktopError``.
    func run(_ stop: StopSwitch) throws -> PresenterChoice {
        do {
            return try show(stop)
        } catch BusError.stopped {
            throw CancellationError()
        }
    }

    private func show(_ stop: StopSwitch) throws -> PresenterChoice {
        let keeper = try Self.keeper()
        var (failures, expiries) = (0, 0)
        var problem: String?
        while true {
            do {
                var server = try NotificationServer()
                try server.listen(stop)
                while true {
                    try server.find(stop)
                    let start = SessionBus.now()
                    switch try show(after: problem, on: &server, keeper, stop) {
                    case .chose(let choice): return choice
                    case .refused(let reason): problem = reason
                    case .expired:
                        expiries += 1
                        try wait(afterExpiry: expiries, stop, &server)
                    case .gone(let reason):
                        let time = SessionBus.now() - start
                        failures = time > Self.settledMicroseconds ? 1 : failures + 1
                        let error = ProgramError.unusable(program: "desktop:", reason: reason)
                        let pause = try pause(after: failures, error, reason)
                        try wait(pause, stop, &server)
                    }
                }
            } catch BusError.stopped {
                throw BusError.stopped
            } catch let error as BusError {
                keeper.send("0")
                failures += 1
                let error = DesktopError(error)
                try wait(try pause(after: failures, error, "\(error)"), stop)
            }
        }
    }

    /// Starts the shell that closes the notification if this process dies.
    private static func keeper() throws(ProgramError) -> ProcessGroup {
        do {
            return try ProcessGroup(keeping: keeping)
        } catch {
            throw ProgramError(error)
        }
    }

    /// Shows the notification once, and waits for its end.
    private func show(
        after problem: String?, on server: inout NotificationServer,
        _ keeper: borrowing ProcessGroup,
        _ stop: StopSwitch
    ) throws -> End {
        let content = NotificationContent(
            record, text, capabilities: server.capabilities, problem: problem,
            answering: answering)
        let id = try server.show(content, stop)
        keeper.send("\(id)")
        appeared()
        do {
            let end = try outcome(of: id, content, on: &server, stop)
            switch end {
            case .chose, .refused: server.close(id)
            case .expired, .gone: break
            }
            keeper.send("0")
            return end
        } catch {
            server.close(id)
            throw error
        }
    }

    private func outcome(
        of id: UInt32, _ content: NotificationContent, on server: inout NotificationServer,
        _ stop: StopSwitch
    ) throws -> End {
        var closing: (deadline: UInt64, end: End)?
        let live = SessionBus.now() + Self.silenceMicroseconds
        while true {
            guard let event = try server.next(stop, until: closing?.deadline) else {
                if let closing { return closing.end }
                continue
            }
            let isEarly = SessionBus.now() < live
            switch event {
            case .invoked(id, _) where isEarly, .replied(id, _) where isEarly,
                .closed(id, 2) where isEarly:
                return .refused("That came at once: is it what you mean?")
            case .invoked(id, let action):
                if let choice = content.choice(action) { return .chose(choice) }
            case .replied(id, let text):
                do throws(AlertError) {
                    if let choice = try content.choice(reply: text) { return .chose(choice) }
                } catch {
                    return .refused(Alert.Field.refusal(error))
                }
            case .closed(id, let reason):
                // Some servers report the end first, and then the action that caused it.
                let end: End =
                    switch reason {
                    case 1: .expired
                    case 2: .chose(.close)
                    default: .gone("somebody else closed the notification")
                    }
                closing = (SessionBus.now() + Self.orderMicroseconds, end)
            case .replaced(let other):
                if let closing { return closing.end }
                return .gone(
                    "the notification server " + (other.isEmpty ? "ended" : "was replaced"))
            case .invoked, .closed, .replied:
                break
            }
        }
    }

    /// Waits before a notification that has timed out comes again, longer each time.
    ///
    /// One without buttons has been shown, and does not come again: its own timer ends it.
    private func wait(
        afterExpiry count: Int, _ stop: StopSwitch, _ server: inout NotificationServer
    ) throws(BusError) {
        guard !record.alert.buttons.isEmpty else {
            while true { try wait(.seconds(3600), stop) }
        }
        let pause = Self.expiryPauses.pause(after: count)
        log(
            "desktop: the notification server let it time out; alert \(record.id) still waits, "
                + "next try in " + AlertWording.duration(pause))
        try wait(pause, stop, &server)
    }

    /// Logs a failure, and returns how long to wait before the next attempt.
    ///
    /// - Throws: The error, after too many failures in a row.
    private func pause(
        after failures: Int, _ error: any Error, _ reason: String
    ) throws -> Duration {
        guard failures < Self.attempts else { throw error }
        let pause = Self.pauses.pause(after: failures)
        log(
            "desktop: \(reason); alert \(record.id) still waits, next try in "
                + AlertWording.duration(pause))
        return pause
    }

    /// Waits without a connection; see poll(2).
    private func wait(_ length: Duration, _ stop: StopSwitch) throws(BusError) {
        guard stop.wait(length) else { return }
        throw .stopped
    }

    /// Waits, but not as long once a server appears, which is what was missing.
    private func wait(
        _ length: Duration, _ stop: StopSwitch, _ server: inout NotificationServer
    ) throws(BusError) {
        let start = SessionBus.now()
        let whole = UInt64(max(0, length.milliseconds)) * 1000
        var end = start + whole
        while SessionBus.now() < end {
            guard case .replaced(let other)? = try server.next(stop, until: end),
                !other.isEmpty
            else { continue }
            // Even so there is a pause: the new server may crash, too.
            end = min(end, max(SessionBus.now(), start + max(250_000, whole / 8)))
        }
    }
}
