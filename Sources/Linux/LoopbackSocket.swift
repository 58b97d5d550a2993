import CLinux
import Glibc

/// A TCP socket that this machine alone can reach.
package struct LoopbackSocket: Sendable {
    /// An address of this machine alone, with a port.
    package struct Address: Sendable, Hashable {
        /// `127.0.0.1` or `::1`.
        package let host: String
        /// From 0, which stands for any that is free, to 65535.
        package let port: UInt16

        /// Reads `HOST:PORT`, with `127.0.0.1` or `[::1]` as the host; `nil` for anything else.
        ///
        /// `localhost` may be either: another account could listen at the other one, and get what is
        /// meant for this one.
        package init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"),
                let port = UInt16(text[text.index(after: colon)...])
            else { return nil }
            switch text[..<colon] {
            case "127.0.0.1": self.init(host: "127.0.0.1", port: port)
            case "[::1]": self.init(host: "::1", port: port)
            default: return nil
            }
        }

        /// A free port.
        package static let anyPort = Address(host: "127.0.0.1", port: 0)

        private init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

        fileprivate func with(port: UInt16) -> Address { Address(host: host, port: port) }

        /// As a URL has it.
        package var text: String { (host == "::1" ? "[::1]" : host) + ":\(port)" }
    }

    package let descriptor: Descriptor
    /// Where it listens.
    package let address: Address

    /// Listens at an address, without blocking.
    ///
    /// - Throws: ``LinuxError``, with `EADDRINUSE` if something else has the port.
    package init(at address: Address) throws(LinuxError) {
        let isNew = address.host == "::1"
        var raw: Int32 = -1
        let port = clinux_listen_loopback(isNew, address.port, &raw)
        guard port > 0 else { throw .current("listen at \(address.text)") }
        descriptor = Descriptor(owning: raw)
        self.address = address.with(port: UInt16(port))
    }

    /// The process that listens at a port, as far as this account may know: `systemd (process 1)`.
    package static func owner(of address: Address) -> String? {
        let wanted = String(address.port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: max(0, 4 - wanted.count)) + wanted
        // See proc_net(5): 0A is LISTEN, and the tenth column the socket's inode.
        let sockets = ["tcp", "tcp6"].flatMap { name in
            LinuxFile.whole("/proc/net/" + name).split(separator: "\n").compactMap { line in
                let columns = line.split(separator: " ")
                let isIt = columns.count > 9 && columns[1].hasSuffix(suffix) && columns[3] == "0A"
                return isIt ? "socket:[\(columns[9])]" : nil
            }
        }
        for name in LinuxFile.names(in: "/proc") {
            guard let process = Int32(name) else { continue }
            let files = "/proc/\(process)/fd"
            for file in LinuxFile.names(in: files) {
                guard let target = LinuxFile.link(files + "/" + file),
                    sockets.contains(target)
                else { continue }
                let program = LinuxFile.whole("/proc/\(process)/comm").filter { $0 != "\n" }
                return "\(program) (process \(process))"
            }
        }
        return nil
    }
}
