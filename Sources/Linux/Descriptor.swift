import CLinux
import Glibc

/// An open file, closed when nobody refers to it any more.
///
/// A class and not a noncopyable value, because a descriptor has several users: a Dispatch source
/// must have let go of it before it is closed. Always opened `O_CLOEXEC`, so that no child keeps
/// its locks.
package final class Descriptor: Sendable {
    package let raw: Int32
    /// Which file it is; that never changes while it is open.
    private let identity: FileIdentity?

    package init(owning raw: Int32) {
        self.raw = raw
        identity = FileIdentity(descriptor: raw)
    }

    /// Takes over what a call returned, or throws what errno(3) says of the call.
    package convenience init(_ result: Int32, _ operation: String) throws(LinuxError) {
        guard result >= 0 else { throw .current(operation) }
        self.init(owning: result)
    }

    deinit {
        close(raw)
    }

    /// Opens a file for reading and writing; a missing one is created with exactly `mode`, under
    /// any umask. Fails with `ELOOP` for a link.
    package static func openOrCreate(
        _ path: String, mode: mode_t
    ) throws(LinuxError) -> Descriptor {
        let flags = O_RDWR | safeFlags
        var raw = open(path, flags)
        if raw < 0, errno == ENOENT {
            raw = open(path, flags | O_CREAT | O_EXCL, mode)
            if raw >= 0 {
                fchmod(raw, mode)
            } else if errno == EEXIST {
                // Somebody else created it in between.
                raw = open(path, flags)
            }
        }
        return try Descriptor(raw, "open \(path)")
    }

    /// Opens a file that must exist already, for reading; `nil` if that fails, or if it is a link
    /// or no plain file.
    package static func openForReading(_ path: String) -> Descriptor? {
        let raw = open(path, O_RDONLY | safeFlags)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(owning: raw)
        return descriptor.isPlainFile ? descriptor : nil
    }

    /// An account that may write the directory could make a name lead to a file of somebody
    /// else's, or to a pipe that never opens; see symlink(7) and fifo(7).
    private static let safeFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Whether it is a file with one name.
    package var isPlainFile: Bool {
        var status = stat()
        return fstat(raw, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_nlink <= 1
    }

    /// Whether the path still leads to this very file.
    ///
    /// A lock file that was deleted or replaced would otherwise give two holders.
    package func isStill(at path: String) -> Bool {
        identity != nil && identity == FileIdentity(path: path)
    }
}

// MARK: - Locks

extension Descriptor {
    /// Locks the whole file or a range of it, if nobody else's lock is in the way; a false result
    /// leaves `errno`.
    ///
    /// The lock belongs to this open file description; see fcntl(2), `F_OFD_SETLK`.
    package func tryLock(_ type: Int32, _ range: LockRange = .wholeFile) -> Bool {
        var request = range.request(type)
        return clinux_ofd_setlk(raw, &request) == 0
    }

    /// Gives up this open file description's locks on a range.
    package func unlock(_ range: LockRange) { _ = tryLock(F_UNLCK, range) }

    /// Whether somebody else's lock would be in the way of an exclusive one; see fcntl(2),
    /// `F_OFD_GETLK`.
    package var isLockedByOthers: Bool { otherLock(on: .wholeFile) != nil }

    /// Somebody else's lock that would be in the way of an exclusive one; one of them, if there are
    /// more.
    package func otherLock(on range: LockRange) -> LockRange? {
        var request = range.request(F_WRLCK)
        guard clinux_ofd_getlk(raw, &request) == 0, Int32(request.l_type) != F_UNLCK else {
            return nil
        }
        return LockRange(start: Int64(request.l_start), length: Int64(request.l_len))
    }
}

// MARK: - Bytes

extension Descriptor {
    /// A file in memory that holds some bytes, to be read from its start. See memfd_create(2).
    ///
    /// - Parameter name: What `/proc` calls it.
    package static func holding(
        _ bytes: some Sequence<UInt8>, name: String
    ) throws(LinuxError) -> Descriptor {
        let file = try Descriptor(clinux_memory_file(name), "make a file in memory")
        guard file.write(bytes) else { throw .current("write a file in memory") }
        lseek(file.raw, 0, SEEK_SET)
        return file
    }

    /// Writes all of some bytes; a false result leaves `errno`.
    package func write(_ bytes: some Sequence<UInt8>) -> Bool {
        var left = Array(bytes)[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { Glibc.write(raw, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return false }
            left = left.dropFirst(max(0, count))
        }
        return true
    }

    /// What can be read now, up to 4 KiB; empty at the end, `nil` if there is nothing yet.
    package func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(raw, &buffer, buffer.count)
        guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : [] }
        return Array(buffer[..<count])
    }
}
