import CLinux
import Glibc

/// Stream sockets of this machine; see unix(7).
package enum UnixSocket {
    /// Connects to whoever listens at a path.
    ///
    /// - Parameter limit: How long that, and each read and write later, may take, in seconds; `nil`
    ///   for as long as it takes.
    package static func connect(
        to path: String, within limit: Int? = nil
    ) throws(LinuxError) -> Descriptor {
        let socket = try Descriptor(clinux_stream_socket(), "make a socket")
        if let limit { setTimeLimit(limit, of: socket) }
        guard clinux_connect(socket.raw, path) == 0 else { throw .current("connect to \(path)") }
        return socket
    }

    /// Two sockets that are connected to each other; see socketpair(2).
    package static func pair() throws(LinuxError) -> (Descriptor, Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard clinux_socket_pair(&ends) == 0 else { throw .current("make a pair of sockets") }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// Sets how long each read and write may take, in seconds; see socket(7), `SO_RCVTIMEO`.
    package static func setTimeLimit(_ limit: Int?, of socket: Descriptor) {
        var time = timeval(tv_sec: limit ?? 0, tv_usec: 0)
        let length = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket.raw, SOL_SOCKET, option, &time, length)
        }
    }

    /// Listens at a path, which this account alone may open from the first moment.
    ///
    /// - Parameter group: A group whose members may open it, too.
    package static func listen(
        at path: String, group: gid_t? = nil
    ) throws(LinuxError) -> Descriptor {
        let socket = try Descriptor(clinux_stream_socket(), "make a socket")
        // The file gets the mode that the socket has.
        guard fchmod(socket.raw, 0o600) == 0, clinux_bind(socket.raw, path) == 0 else {
            throw .current("listen at \(path)")
        }
        if let group {
            guard lchown(path, uid_t.max, group) == 0, chmod(path, 0o660) == 0 else {
                throw .current("give \(path) to its group")
            }
        }
        guard Glibc.listen(socket.raw, SOMAXCONN) == 0,
            fcntl(socket.raw, F_SETFL, O_NONBLOCK) == 0
        else { throw .current("listen at \(path)") }
        return socket
    }

    /// Takes the next connection, which doesn't block; `nil` if there is none now.
    package static func accept(on socket: Descriptor) throws(LinuxError) -> Descriptor? {
        while true {
            let raw = clinux_accept(socket.raw)
            if raw >= 0 { return Descriptor(owning: raw) }
            switch errno {
            case EAGAIN: return nil
            // A connection that has ended before it was taken is none.
            case EINTR, ECONNABORTED: continue
            default: throw .current("accept a connection")
            }
        }
    }

    /// How many bytes the other side has not read yet; see unix(7), `SIOCOUTQ`.
    package static func unreadBytes(of raw: Int32) -> Int32 {
        var count: Int32 = 0
        return ioctl(raw, UInt(TIOCOUTQ), &count) == 0 ? count : 0
    }

    /// Sends what the other side has room for now; returns how many bytes.
    package static func send(_ bytes: ArraySlice<UInt8>, to raw: Int32) throws(LinuxError) -> Int {
        while true {
            let count = bytes.withUnsafeBytes {
                Glibc.send(raw, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: return 0
            default: throw .current("send")
            }
        }
    }
}

/// Who is at the other end of a socket, by the kernel's word; see unix(7), `SO_PEERCRED`.
package struct SocketPeer: Sendable, Hashable {
    /// The process that connected, or that listens; 0 if it is not visible from here.
    package let pid: Int32
    package let uid: UInt32

    package init(of socket: Int32) throws(LinuxError) {
        var peer = clinux_peer()
        guard clinux_find_peer(socket, &peer) == 0 else {
            throw .current("look up who has connected")
        }
        (pid, uid) = (peer.pid, peer.uid)
    }
}

/// Waits for many descriptors at once; see epoll(7).
package final class Poller: Sendable {
    private let epoll: Descriptor

    package init() throws(LinuxError) { epoll = try Descriptor(clinux_epoll(), "make an epoll") }

    /// Watches a descriptor, or changes for what it is watched; that it has ended is always noticed.
    package func watch(
        _ raw: Int32, reads: Bool, writes: Bool = false
    ) throws(LinuxError) {
        guard clinux_epoll_watch(epoll.raw, raw, reads, writes) == 0 else {
            throw .current("watch a descriptor")
        }
    }

    /// Watches a descriptor no longer; it must still be open.
    package func forget(_ raw: Int32) { _ = clinux_epoll_forget(epoll.raw, raw) }

    /// Waits until some descriptors are ready.
    ///
    /// - Parameter time: How long at most, in milliseconds.
    package func wait(atMost time: Int32) -> [Int32] {
        [Int32](unsafeUninitializedCapacity: 64) { ready, count in
            count = Int(max(0, clinux_epoll_wait(epoll.raw, ready.baseAddress, time)))
        }
    }
}
