import AlertCore
import Glibc
import Linux

/// The directory of a service's sockets, which one service at a time owns.
package struct ServiceSockets: Sendable {
    /// The directory of the system queue's service.
    package static let systemDirectory = "/run/alertq"

    package let directory: String
    /// The path of the socket on which clients send lines.
    package var lines: String { directory + "/alertq.sock" }
    /// Held for as long as the service runs.
    private let lock: Descriptor

    /// The directory of a user's own service; `nil` outside of a login session. See the XDG Base
    /// Directory Specification, `XDG_RUNTIME_DIR`.
    package static var userDirectory: String? {
        LinuxProcess.environment("XDG_RUNTIME_DIR").flatMap { directory in
            directory.hasPrefix("/") ? directory + "/alertq" : nil
        }
    }

    /// Takes the directory, which is made if it is missing.
    ///
    /// - Throws: ``AlertError/busy(_:)`` if another service has it, and the errors of making it.
    package init(in directory: String) throws(AlertError) {
        self.directory = directory
        let path = directory + "/alertq.lock"
        let (lock, isTaken) = try AlertError.onFile(path) { () throws(LinuxError) in
            try FilePath.create(directory: directory, mode: 0o700)
            let lock = try Descriptor.openOrCreate(path, mode: 0o600)
            return (lock, try lock.takeLock(LOCK_EX | LOCK_NB, of: path))
        }
        self.lock = lock
        guard isTaken else { throw .busy(Self.owner(of: lines, in: directory)) }
    }

    /// Says which process has the directory.
    private static func owner(of socket: String, in directory: String) -> String {
        let peer = try? SocketPeer(of: UnixSocket.connect(to: socket))
        let process = peer.map { "process \($0.pid)" } ?? "another process"
        return "\(process) already serves a queue with the sockets in \(directory); end it, or "
            + "choose another directory with --sockets"
    }

    /// Listens for lines. A socket that a killed service left is nobody's: the lock is held here.
    package func listen() throws(AlertError) -> Descriptor {
        try AlertError.onFile(lines) { () throws(LinuxError) in
            guard unlink(lines) == 0 || errno == ENOENT else {
                throw .current("remove \(lines)")
            }
            return try UnixSocket.listen(at: lines)
        }
    }

    /// Removes the socket, so that clients don't connect to nobody.
    package func remove() { unlink(lines) }
}
