import CSystemd
import Glibc
import Linux

/// An error of the message bus.
enum BusError: Error, Sendable, Hashable {
    /// The switch was thrown.
    case stopped
    /// The connection is lost, or never was.
    case lost(String)
    /// The library that speaks with the bus can't be loaded.
    case noLibrary(MissingLibrary)
    /// The peer, or the bus on its behalf, replied with an error.
    case refused(name: String, String)
}

/// A connection to the user's message bus, closed when it goes out of scope; see sd-bus(3).
///
/// It may be used only by the thread that created it.
struct SessionBus: ~Copyable {
    private let bus: OpaquePointer
    private let systemd: csystemd

    /// Connects to `$DBUS_SESSION_BUS_ADDRESS`, or the bus in `$XDG_RUNTIME_DIR`. See
    /// sd_bus_open_user(3).
    init() throws(BusError) {
        let systemd = try SystemdLibrary.functions()
        var bus: OpaquePointer?
        let code = systemd.sd_bus_open_user(&bus)
        guard code >= 0, let bus else { throw Self.lost(code) }
        self.bus = bus
        self.systemd = systemd
    }

    deinit { _ = systemd.sd_bus_flush_close_unref(bus) }

    /// A call to be filled in and sent. See sd_bus_message_new_method_call(3).
    borrowing func newCall(
        _ member: String, of interface: String, at path: String, on destination: String
    ) throws(BusError) -> BusMessage {
        var message: OpaquePointer?
        let code = systemd.sd_bus_message_new_method_call(
            bus, &message, destination, path, interface, member)
        guard code >= 0, let message else { throw Self.lost(code) }
        return BusMessage(owning: message, systemd)
    }

    /// Sends a call, and returns the cookie that its reply will carry. See sd_bus_send(3).
    borrowing func send(_ call: borrowing BusMessage) throws(BusError) -> UInt64 {
        var cookie: UInt64 = 0
        let code = systemd.sd_bus_send(bus, call.handle, &cookie)
        guard code >= 0 else { throw Self.lost(code) }
        return cookie
    }

    /// The next message; `nil` if none has come by the deadline. See sd_bus_process(3).
    ///
    /// - Parameter deadline: In microseconds of the monotonic clock; `nil` for never.
    borrowing func next(
        _ stop: StopSwitch?, until deadline: UInt64?
    ) throws(BusError) -> BusMessage? {
        while true {
            var message: OpaquePointer?
            let code = systemd.sd_bus_process(bus, &message)
            guard code >= 0 else { throw Self.lost(code) }
            if let message { return BusMessage(owning: message, systemd) }
            if code > 0 { continue }
            guard try wait(stop, until: deadline) else { return nil }
        }
    }

    /// Waits for something to do; `false` once the deadline has passed.
    private borrowing func wait(
        _ stop: StopSwitch?, until deadline: UInt64?
    ) throws(BusError) -> Bool {
        var own: UInt64 = .max
        guard systemd.sd_bus_get_timeout(bus, &own) >= 0 else { throw Self.lost(-ECONNRESET) }
        let end = min(own, deadline ?? .max)
        let now = Self.now()
        let left = end > now ? end - now : 0
        var waits = [
            // A negative one is passed over.
            pollfd(fd: stop?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: systemd.sd_bus_get_fd(bus),
                events: Int16(truncatingIfNeeded: systemd.sd_bus_get_events(bus)),
                revents: 0),
        ]
        _ = poll(&waits, 2, end == .max ? -1 : Int32(clamping: left / 1000 + 1))
        if waits[0].revents != 0 { throw .stopped }
        guard let deadline else { return true }
        return Self.now() < deadline
    }

    /// Microseconds of the monotonic clock.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }

    private static func lost(_ code: Int32) -> BusError {
        .lost(String(cString: strerror(-code)))
    }
}

/// A message of the bus, released when it goes out of scope.
struct BusMessage: ~Copyable {
    let handle: OpaquePointer
    private let systemd: csystemd

    init(owning handle: OpaquePointer, _ systemd: csystemd) {
        self.handle = handle
        self.systemd = systemd
    }

    deinit { _ = systemd.sd_bus_message_unref(handle) }

    // Appending to a message that is being built fails only for lack of memory: every text has been
    // through `SafeText`, so that it is one of D-Bus, too.

    borrowing func append(_ text: String) {
        text.withCString { _ = systemd.sd_bus_message_append_basic(handle, Self.code("s"), $0) }
    }

    borrowing func append(_ number: UInt32) {
        withUnsafePointer(to: number) {
            _ = systemd.sd_bus_message_append_basic(handle, Self.code("u"), $0)
        }
    }

    borrowing func append(_ number: Int32) {
        withUnsafePointer(to: number) {
            _ = systemd.sd_bus_message_append_basic(handle, Self.code("i"), $0)
        }
    }

    borrowing func append(_ number: UInt8) {
        withUnsafePointer(to: number) {
            _ = systemd.sd_bus_message_append_basic(handle, Self.code("y"), $0)
        }
    }

    /// Appends what a closure appends, as one value; see sd_bus_message_open_container(3).
    borrowing func append(
        _ type: Unicode.Scalar, of contents: String, _ fill: (borrowing BusMessage) -> Void
    ) {
        _ = systemd.sd_bus_message_open_container(handle, Self.code(type), contents)
        fill(self)
        _ = systemd.sd_bus_message_close_container(handle)
    }

    /// The next value as text; `nil` if it is something else, or if there is none. See
    /// sd_bus_message_read_basic(3).
    borrowing func text() -> String? {
        var text: UnsafePointer<CChar>?
        let code = systemd.sd_bus_message_read_basic(handle, Self.code("s"), &text)
        return code > 0 ? text.map { String(cString: $0) } : nil
    }

    borrowing func number() -> UInt32? {
        var number: UInt32 = 0
        return systemd.sd_bus_message_read_basic(handle, Self.code("u"), &number) > 0
            ? number : nil
    }

    /// The next value as a list of texts.
    borrowing func texts() -> [String] {
        guard systemd.sd_bus_message_enter_container(handle, Self.code("a"), "s") > 0 else {
            return []
        }
        var texts: [String] = []
        while texts.count < 100, let text = text() { texts.append(text) }
        return texts
    }

    /// The unique name of its sender.
    var sender: String? {
        systemd.sd_bus_message_get_sender(handle).map { String(cString: $0) }
    }

    func isSignal(_ member: String, of interface: String) -> Bool {
        systemd.sd_bus_message_is_signal(handle, interface, member) > 0
    }

    /// The cookie of the call that the message replies to.
    var replyCookie: UInt64? {
        var cookie: UInt64 = 0
        return systemd.sd_bus_message_get_reply_cookie(handle, &cookie) >= 0 ? cookie : nil
    }

    /// The error that the message carries, if it is an error reply.
    var error: BusError? {
        guard systemd.sd_bus_message_is_method_error(handle, nil) > 0,
            let error = systemd.sd_bus_message_get_error(handle)?.pointee
        else { return nil }
        return .refused(
            name: error.name.map { String(cString: $0) } ?? "",
            error.message.map { String(cString: $0) } ?? "")
    }

    private static func code(_ type: Unicode.Scalar) -> CChar {
        CChar(truncatingIfNeeded: type.value)
    }
}
