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
        /// The server has gone, or has been replaced by another.
        case replaced(isThere: Bool)
    }

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private static let bus = "org.freedesktop.DBus"
    /// A server that takes longer to reply has failed. Starting one may take a while.
    private static let patienceMicroseconds: UInt64 = 10_000_000

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
        owner =
            try ask(stop, "GetNameOwner", of: Self.bus, at: "/org/freedesktop/DBus") {
                $0.append(Self.name)
            }.text() ?? ""
        capabilities = Set(
            try ask(stop, "GetCapabilities", of: Self.name, at: Self.path) { _ in }.texts())
        events.removeAll()
    }

    /// Shows a notification, and returns its id.
    mutating func show(
        _ content: NotificationContent, _ stop: StopSwitch
    ) throws(BusError) -> UInt32 {
        let reply = try ask(stop, "Notify", of: Self.name, at: Self.path) { call in
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
        guard let id = reply.number() else { throw .lost("the server gave no id") }
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
        while events.isEmpty {
            guard let message = try connection.next(stop, until: deadline) else { return nil }
            take(message)
        }
        return events.removeFirst()
    }

    /// Calls a method and waits for its reply; events that come meanwhile are kept.
    private mutating func ask(
        _ stop: StopSwitch, _ member: String, of interface: String, at path: String,
        _ fill: (borrowing BusMessage) -> Void
    ) throws(BusError) -> BusMessage {
        let call = try connection.newCall(member, of: interface, at: path, on: interface)
        fill(call)
        let cookie = try connection.send(call)
        let deadline = SessionBus.now() + Self.patienceMicroseconds
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
            if new != owner { events.append(.replaced(isThere: !new.isEmpty)) }
        }
    }
}
