import AlertCore
import Glibc
import Linux

/// A server that shows the windows of this process.
enum DisplayServer: CaseIterable, Sendable {
    case wayland
    /// See X(7), section "Display names".
    case x

    /// The server that windows appear on: the first that answers.
    static var current: DisplayServer? { allCases.first(where: \.isThere) }

    /// The display that the environment names; `nil` where there is no desktop.
    static var name: String? { allCases.compactMap(\.display).first }

    private var display: String? {
        switch self {
        case .wayland: LinuxProcess.environment("WAYLAND_DISPLAY")
        case .x: LinuxProcess.environment("DISPLAY")
        }
    }

    /// What the environment of a program must have, or lack, to show its window on this server.
    var variables: [String: String?] {
        // Toolkits prefer the other one, even if it no longer answers.
        guard self == .x, DisplayServer.wayland.display != nil else { return [:] }
        return ["WAYLAND_DISPLAY": nil, "GDK_BACKEND": "x11", "QT_QPA_PLATFORM": "xcb"]
    }

    /// A request to connect; see "X Window System Protocol", section 8, "Connection Setup". Even a
    /// server that wants an authorization replies.
    private static let requestOfX: [UInt8] = [UInt8(ascii: "l"), 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// The request `wl_display.sync`; see "The Wayland Protocol", appendix A.
    private static let requestOfWayland = [UInt32(1), 12 << 16, 2].flatMap { word in
        withUnsafeBytes(of: word) { Array($0) }
    }

    /// Whether the server answers. A server on another machine is assumed to.
    ///
    /// That it accepts a connection is not enough: the kernel accepts some for a server that is
    /// ending, after it has closed those of its clients.
    var isThere: Bool {
        guard let name = display else { return false }
        switch self {
        case .wayland:
            let folder = LinuxProcess.environment("XDG_RUNTIME_DIR") ?? ""
            return Self.answers(
                Self.requestOfWayland, at: name.hasPrefix("/") ? name : folder + "/" + name)
        case .x:
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, ["", "unix"].contains(parts[0]) else { return true }
            let path = "/tmp/.X11-unix/X" + parts[1].prefix { $0 != "." }
            // Linux also has abstract socket names, which begin with a NUL; see unix(7).
            return Self.answers(Self.requestOfX, at: path)
                || Self.answers(Self.requestOfX, at: "\0" + path)
        }
    }

    /// Whether a server replies to a request, or keeps the connection open for all its `patience`,
    /// in milliseconds, because it is busy.
    static func answers(_ request: [UInt8], at path: String, patience: Int32 = 5000) -> Bool {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        guard let server = try? Descriptor(socket(AF_UNIX, Int32(kind), 0), "make a socket")
        else { return false }
        switch connect(server, to: path) {
        case 0: break
        // Too many others wait for the server.
        case EAGAIN: return true
        default: return false
        }
        // A failure to send shows as the end of the connection, too.
        _ = send(server.raw, request, request.count, Int32(MSG_NOSIGNAL))
        var entry = pollfd(fd: server.raw, events: Int16(POLLIN), revents: 0)
        switch poll(&entry, 1, patience) {
        case 0: return true
        case 1:
            var byte = UInt8()
            return recv(server.raw, &byte, 1, Int32(MSG_DONTWAIT)) == 1
        default: return errno == EINTR
        }
    }

    /// Connects a socket to a server; returns 0, or an error of errno(3).
    private static func connect(_ socket: Descriptor, to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return ENAMETOOLONG
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // An abstract name ends where its length says, a path with a NUL.
        let isPath = bytes.first != 0
        let length = MemoryLayout<sa_family_t>.size + bytes.count + (isPath ? 1 : 0)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket.raw, $0, socklen_t(length))
            }
        }
        return result == 0 ? 0 : errno
    }
}
