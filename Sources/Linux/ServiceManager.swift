import CLinux
import Glibc

/// The service manager that has started this process, if one has: systemd, or what speaks its
/// protocols, which are stable. See sd_notify(3), sd_listen_fds(3) and sd_watchdog_enabled(3).
package enum ServiceManager {
    /// Tells it about a change of state, such as `READY=1`.
    package static func notify(_ state: String) {
        guard let path = LinuxProcess.environment("NOTIFY_SOCKET") else { return }
        _ = clinux_send_datagram(path, state)
    }

    /// How often it wants to hear `WATCHDOG=1`, at least; `nil` if it does not.
    package static var watchdogTime: Duration? {
        guard isMeant(by: "WATCHDOG_PID", orNobody: true),
            let time = LinuxProcess.environment("WATCHDOG_USEC").flatMap(Int64.init), time > 0
        else { return nil }
        return .microseconds(time)
    }

    /// A descriptor that it has passed.
    package struct PassedSocket: Sendable {
        /// Its number, from 3.
        package let number: Int32
        /// The path at which it listens; `nil` for what is no stream socket with a path.
        package let path: String?
        package let descriptor: Descriptor
    }

    /// How many descriptors are taken over: no service of ours has more sockets.
    private static let socketLimit: Int32 = 16

    /// Takes the sockets over, which no child inherits from now on; for a single caller.
    package static func takeSockets() -> [PassedSocket] {
        guard isMeant(by: "LISTEN_PID", orNobody: false),
            let count = LinuxProcess.environment("LISTEN_FDS").flatMap(Int32.init), count > 0
        else { return [] }
        return (3..<(3 + min(count, socketLimit))).map { raw in
            var path = [CChar](repeating: 0, count: 108)
            let listens = clinux_listens(raw, &path)
            _ = fcntl(raw, F_SETFD, FD_CLOEXEC)
            if listens { _ = fcntl(raw, F_SETFL, O_NONBLOCK) }
            let text = path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            return PassedSocket(
                number: raw,
                path: listens && !text.isEmpty ? String(decoding: text, as: UTF8.self) : nil,
                descriptor: Descriptor(owning: raw))
        }
    }

    /// Whether variables are for this process, and not for its parent.
    private static func isMeant(by name: String, orNobody: Bool) -> Bool {
        guard let text = LinuxProcess.environment(name) else { return orNobody }
        return Int32(text) == getpid()
    }
}
