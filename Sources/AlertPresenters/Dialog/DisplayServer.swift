import AlertCore
import Glibc
import Linux

/// The server that shows the windows of this process; see X(7), section "Display names".
enum DisplayServer: Sendable {
    /// The display that the environment names; `nil` where there is no desktop.
    static var name: String? {
        ["WAYLAND_DISPLAY", "DISPLAY"].compactMap(Identity.environment).first
    }

    /// Whether the server answers. A server on another machine is assumed to.
    static var isThere: Bool {
        if let name = Identity.environment("WAYLAND_DISPLAY") {
            let folder = Identity.environment("XDG_RUNTIME_DIR") ?? ""
            return accepts(name.hasPrefix("/") ? name : folder + "/" + name)
        }
        guard let name = Identity.environment("DISPLAY") else { return false }
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, ["", "unix"].contains(parts[0]) else { return true }
        let path = "/tmp/.X11-unix/X" + parts[1].prefix { $0 != "." }
        // Linux also has abstract socket names, which begin with a NUL; see unix(7).
        return accepts(path) || accepts("\0" + path)
    }

    private static func accepts(_ path: String) -> Bool {
        guard
            let socket = try? Descriptor(
                socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0),
                "make a socket")
        else { return false }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // An abstract name ends where its length says, a path with a NUL.
        let isPath = bytes.first != 0
        let length = MemoryLayout<sa_family_t>.size + bytes.count + (isPath ? 1 : 0)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.raw, $0, socklen_t(length)) == 0
            }
        }
    }
}
