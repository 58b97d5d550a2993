import AlertCore
import Glibc
import Linux

/// The directory of a service's sockets, which one service at a time owns.
package struct ServiceSockets: Sendable {
    /// The directory of the system queue's service.
    package static let systemDirectory = "/run/alertq"

    package let directory: String
    /// The path of the socket on which clients send lines.
    package var lines: String { Self.lines(in: directory) }
    /// The path of the socket for HTTP.
    package var api: String { directory + "/api.sock" }
    /// The path of the file with the token for a TCP port.
    package var token: String { directory + "/api.token" }
    /// Where clients connect, as `--database` takes it.
    package var location: String { "unix:" + lines }

    /// Held for as long as the service runs.
    private let lock: Descriptor
    private let lockPath: String
    /// The sockets that the service manager has made, and keeps.
    private let given: [ServiceManager.PassedSocket]
    /// The group whose members may connect, besides this account and root.
    private let group: gid_t?

    /// The path of the socket for lines in a directory.
    package static func lines(in directory: String) -> String { directory + "/alertq.sock" }

    /// The directory of a user's own service; `nil` outside of a login session. See the XDG Base
    /// Directory Specification, `XDG_RUNTIME_DIR`.
    package static var userDirectory: String? {
        LinuxProcess.environment("XDG_RUNTIME_DIR").flatMap { directory in
            directory.hasPrefix("/") ? directory + "/alertq" : nil
        }
    }

    /// Takes the directory, which is made if it is missing.
    ///
    /// - Parameters:
    ///   - given: The sockets that the service manager has made there.
    ///   - group: The group whose members may connect to a socket that is made here, besides this
    ///     account and root.
    /// - Throws: ``AlertError/busy(_:)`` if another service has it, ``AlertError/invalid(_:_:)`` for
    ///   a socket that is none of the service's, and the errors of making it.
    package init(
        in directory: String, given: [ServiceManager.PassedSocket] = [], group: gid_t? = nil
    ) throws(AlertError) {
        self.directory = directory
        self.given = given
        self.group = group
        let path = directory + "/alertq.lock"
        let mode: mode_t = group == nil ? 0o700 : 0o755
        let (lock, isTaken) = try AlertError.onFile(path) { () throws(LinuxError) in
            try FilePath.create(directory: directory, mode: mode)
            let lock = try Descriptor.openOrCreate(path, mode: 0o600)
            return (lock, try lock.takeLock(LOCK_EX | LOCK_NB, of: path))
        }
        (self.lock, lockPath) = (lock, path)
        for socket in given
        where ![lines, api].contains(where: { socket.path.isIdentical(to: $0) }) {
            throw .invalid(
                "socket \(socket.path ?? "number \(socket.number)")",
                "that the service manager has made is neither \(lines) nor \(api), where this "
                    + "service's clients connect: correct ListenStream=, or add --sockets")
        }
        guard isTaken else { throw .busy(Self.owner(of: path, in: directory)) }
        ftruncate(lock.raw, 0)
        _ = lock.write("\(getpid())\n".utf8)
    }

    /// Says which process has the directory, as its lock does.
    private static func owner(of lock: String, in directory: String) -> String {
        let number = Int32(LinuxFile.whole(lock).prefix { $0.isNumber })
        let process = number.map { "process \($0)" } ?? "another process"
        return "\(process) already serves a queue with the sockets in \(directory); end it, or "
            + "choose another directory with --sockets"
    }

    /// Listens at a path. A socket that a killed service left is nobody's: the lock is held here.
    package func listen(at path: String) throws(AlertError) -> Descriptor {
        if let socket = given(at: path) { return socket.descriptor }
        return try AlertError.onFile(path) { () throws(LinuxError) in
            guard unlink(path) == 0 || errno == ENOENT else { throw .current("remove \(path)") }
            return try UnixSocket.listen(at: path, group: group)
        }
    }

    private func given(at path: String) -> ServiceManager.PassedSocket? {
        given.first { $0.path.isIdentical(to: path) }
    }

    /// Removes the sockets, so that clients don't connect to nobody; where the service manager has
    /// made one, they wait there for the next service.
    package func remove() {
        for path in [lines, api] { remove(path) }
    }

    /// Removes one of them.
    package func remove(_ path: String) {
        // Where somebody has removed the lock, the sockets may be those of another service.
        let isOurs = FileIdentity(path: lockPath) == FileIdentity(descriptor: lock.raw)
        if isOurs, given(at: path) == nil { unlink(path) }
    }
}
