import Glibc
import TextFormats

/// The desktop's notification server; see the Desktop Notifications Specification, 1.2.
struct NotificationServer: ~Copyable {
    /// An event that the server or the bus reports.
    enum Event: Sendable, Hashable {
        case invoked(id: UInt32, action: String)
        case closed(id: UInt32, reason: UInt32)
        /// A person has entered a text in the notification.
        case replied(id: UInt32, text: String)
        /// The server has been replaced by another, or by none, whose name is empty.
        case replaced(by: String)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private static let bus = "org.freedesktop.DBus"
    /// A server that takes longer to reply has failed. Starting one may take a while.
    private static let patienceMicroseconds: UInt64 = 10_000_000
    /// How long a notification that nobody wants any more is waited for, so that it can be closed; the
    /// manager gives a presenter two seconds.
    private static let leavingMicroseconds: UInt64 = 1_000_000

    private let connection: SessionBus
    private var events: [Event] = []
    /// The unique name of the server; signals from other senders are ignored.
    private var owner = ""
    /// What the server can do.
    private(set) var capabilities: Set<String> = []

    /// Connects to the bus; the server need not be running yet.
    init() throws(BusError) {
        connection = try SessionBus()
    }

    /// Subscribes to the server's signals, and to news of its replacement.
    mutating func listen(_ stop: StopSwitch) throws(BusError) {
        let ownership = "sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.name)'"
        for rule in [ownership, "sender='\(Self.name)',interface='\(Self.name)'"] {
            _ = try ask(stop, "AddMatch", of: Self.bus, at: "/org/freedesktop/DBus") {
                $0.append("type='signal'," + rule)
            }
        }
    }

    /// Finds the server, starting it if the bus knows how, and asks what it can do.
    mutating func find(_ stop: StopSwitch) throws(BusError) {
        _ = try ask(stop, "StartServiceByName", of: Self.bus, at: "/org/freedesktop/DBus") {
            $0.append(Self.name)
            $0.append(UInt32(0))
        }
        // What is known of earlier servers no longer matters, but that there is another one may.
        events.removeAll()
        let reply = try ask(stop, "GetCapabilities", of: Self.name, at: Self.path) { _ in }
        owner = reply.sender ?? ""
        capabilities = Set(reply.texts())
    }

    /// Shows a notification, and returns its id.
    mutating func show(
        _ content: NotificationContent, _ stop: StopSwitch
    ) throws(BusError) -> UInt32 {
        let cookie = try send("Notify", of: Self.name, at: Self.path) { call in
            call.append("alertq")
            call.append(UInt32(0))
            call.append(content.icon)
            call.append(content.summary)
            call.append(content.body)
            call.append("a", of: "s") { list in
                for action in content.actions {
                    list.append(action.key)
                    list.append(action.label)
                }
            }
            call.append("a", of: "{sv}") { hints in
                hints.append("e", of: "sv") { hint in
                    hint.append("urgency")
                    hint.append("v", of: "y") { $0.append(content.urgency) }
                }
                guard let reply = content.reply else { return }
                hints.append("e", of: "sv") { hint in
                    hint.append("x-kde-reply-placeholder-text")
                    hint.append("v", of: "s") { $0.append(SafeText.line(reply.field.title)) }
                }
            }
            // The notification stays until it is answered or closed.
            call.append(Int32(0))
        }
        do {
            return try id(inReplyTo: cookie, stop, within: Self.patienceMicroseconds)
        } catch {
            if case .stopped = error,
                let id = try? id(inReplyTo: cookie, nil, within: Self.leavingMicroseconds)
            {
                close(id)
            }
            throw error
        }
    }

    private mutating func id(
        inReplyTo cookie: UInt64, _ stop: StopSwitch?, within time: UInt64
    ) throws(BusError) -> UInt32 {
        let reply = try reply(to: cookie, "Notify", stop, within: time)
        guard let id = reply.number() else { throw .lost("the server gave no id") }
        guard reply.sender == owner else {
            close(id)
            throw .lost("the notification server was replaced")
        }
        return id
    }

    /// Takes a notification off the screen.
    mutating func close(_ id: UInt32) {
        // The reply does not matter, and the connection is flushed before it is closed.
        guard
            let call = try? connection.newCall(
                "CloseNotification", of: Self.name, at: Self.path, on: Self.name)
        else { return }
        call.append(id)
        _ = try? connection.send(call)
    }

    /// The next event; `nil` if none has come by the deadline.
    mutating func next(
        _ stop: StopSwitch, until deadline: UInt64?
    ) throws(BusError) -> Event? {
        while true {
            // That this one has become the server may be told late.
            events.removeAll { $0 == .replaced(by: owner) }
            guard events.isEmpty else { return events.removeFirst() }
            guard let message = try connection.next(stop, until: deadline) else { return nil }
            take(message)
        }
    }

    /// Calls a method and waits for its reply; events that come meanwhile are kept.
    private mutating func ask(
        _ stop: StopSwitch, _ member: String, of interface: String, at path: String,
        _ fill: (borrowing BusMessage) -> Void
    ) throws(BusError) -> BusMessage {
        let cookie = try send(member, of: interface, at: path, fill)
        return try reply(to: cookie, member, stop, within: Self.patienceMicroseconds)
    }

    /// Calls a method; returns the cookie that its reply has.
    private func send(
        _ member: String, of interface: String, at path: String,
        _ fill: (borrowing BusMessage) -> Void
    ) throws(BusError) -> UInt64 {
        let call = try connection.newCall(member, of: interface, at: path, on: interface)
        fill(call)
        return try connection.send(call)
    }

    private mutating func reply(
        to cookie: UInt64, _ member: String, _ stop: StopSwitch?, within time: UInt64
    ) throws(BusError) -> BusMessage {
        let deadline = SessionBus.now() + time
        while let message = try connection.next(stop, until: deadline) {
            guard message.replyCookie == cookie else {
                take(message)
                continue
            }
            if let error = message.error { throw error }
            return message
        }
        throw .lost("no reply to \(member)")
    }

    private mutating func take(_ message: borrowing BusMessage) {
        // A flood of signals is a fault of their sender; the rest is dropped.
        guard events.count < 1000 else { return }
        if message.sender == owner {
            if message.isSignal("ActionInvoked", of: Self.name), let id = message.number(),
                let action = message.text()
            {
                events.append(.invoked(id: id, action: action))
            } else if message.isSignal("NotificationReplied", of: Self.name),
                let id = message.number(), let text = message.text()
            {
                events.append(.replied(id: id, text: text))
            } else if message.isSignal("NotificationClosed", of: Self.name),
                let id = message.number(), let reason = message.number()
            {
                events.append(.closed(id: id, reason: reason))
            }
        } else if message.sender == Self.bus,
            message.isSignal("NameOwnerChanged", of: Self.bus),
            message.text() == Self.name, message.text() != nil, let new = message.text()
        {
            events.append(.replaced(by: new))
        }
    }
}
