import CLinux
import Glibc

/// An open file, closed when nothing references it any longer.
///
/// It is a class and not a noncopyable value because a descriptor has several users: a Dispatch
/// source must have released it before it is closed. It is always opened with `O_CLOEXEC`, so that
/// no child keeps its locks.
package final class Descriptor: Sendable {
    package let raw: Int32
    /// The file's identity, which never changes while it is open.
    private let identity: FileIdentity?

    package init(owning raw: Int32) {
        self.raw = raw
        identity = FileIdentity(descriptor: raw)
    }

    /// Takes over the result of a call, or throws the error in errno(3).
    package convenience init(_ result: Int32, _ operation: String) throws(LinuxError) {
        guard result >= 0 else { throw .current(operation) }
        self.init(owning: result)
    }

    deinit {
        close(raw)
    }

    /// Opens a file for reading and writing; a missing one is created with exactly `mode`,
    /// regardless of the umask. Fails with `ELOOP` for a link.
    ///
    /// - Parameter created: Gets the descriptor of a file that was missing.
    package static func openOrCreate(
        _ path: String, mode: mode_t, created: (Int32) -> Void = { _ in }
    ) throws(LinuxError) -> Descriptor {
        let flags = O_RDWR | safeFlags
        var raw = open(path, flags)
        if raw < 0, errno == ENOENT {
            raw = open(path, flags | O_CREAT | O_EXCL, mode)
            if raw >= 0 {
                fchmod(raw, mode)
                created(raw)
            } else if errno == EEXIST {
                // Another process created it in between.
                raw = open(path, flags)
            }
        }
        return try Descriptor(raw, "open \(path)")
    }

    /// Opens an existing file for reading; `nil` if that fails, or if it is a link or not a regular
    /// file.
    package static func openForReading(_ path: String) -> Descriptor? {
        let raw = open(path, O_RDONLY | safeFlags)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(owning: raw)
        return descriptor.isPlainFile ? descriptor : nil
    }

    /// An account that may write the directory could make a name lead to another account's file, or
    /// to a pipe that never opens; see symlink(7) and fifo(7).
    private static let safeFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Whether it is a regular file with one name.
    package var isPlainFile: Bool {
        var status = stat()
        return fstat(raw, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_nlink <= 1
    }

    /// Whether the path still leads to this file.
    ///
    /// Otherwise a lock file that was deleted or replaced would allow two holders.
    package func isStill(at path: String) -> Bool {
        identity != nil && identity == FileIdentity(path: path)
    }
}

// MARK: - Locks

extension Descriptor {
    /// Locks the whole file or a range of it, unless another lock conflicts; `errno` is set if the
    /// result is `false`.
    ///
    /// The lock belongs to this open file description; see fcntl(2), `F_OFD_SETLK`.
    package func tryLock(_ type: Int32, _ range: LockRange = .wholeFile) -> Bool {
        var request = range.request(type)
        return clinux_ofd_setlk(raw, &request) == 0
    }

    /// Takes the flock(2) lock of the whole file; `false` if another process holds one that
    /// conflicts.
    ///
    /// - Parameter operation: `LOCK_EX` or `LOCK_SH`, with `LOCK_NB` unless it is to wait.
    /// - Throws: Why there are no such locks here: a file system may have none, or the kernel no
    ///   room for more. Trying again doesn't help then.
    package func takeLock(
        _ operation: Int32, of path: String
    ) throws(LinuxError) -> Bool {
        while clinux_flock(raw, operation) != 0 {
            if errno == EWOULDBLOCK { return false }
            guard errno == EINTR else { throw .current("lock \(path)") }
        }
        return true
    }

    /// The same for a range of bytes, as ``tryLock(_:_:)`` takes it.
    package func takeLock(
        on range: LockRange = .wholeFile, of path: String
    ) throws(LinuxError) -> Bool {
        if tryLock(F_WRLCK, range) { return true }
        guard errno == EAGAIN || errno == EACCES else { throw .current("lock \(path)") }
        return false
    }

    /// Releases this open file description's locks on a range.
    package func unlock(_ range: LockRange) { _ = tryLock(F_UNLCK, range) }

    /// Whether another lock conflicts with an exclusive one; see fcntl(2), `F_OFD_GETLK`.
    package var isLockedByOthers: Bool { otherLock(on: .wholeFile) != nil }

    /// Whether another lock conflicts with an exclusive one on a range; `nil` if that can't be found
    /// out, with the reason in `errno`.
    package func isLockedByOthers(_ range: LockRange) -> Bool? {
        var request = range.request(F_WRLCK)
        guard clinux_ofd_getlk(raw, &request) == 0 else { return nil }
        return Int32(request.l_type) != F_UNLCK
    }

    /// Another lock that conflicts with an exclusive one; any of them, if there are several.
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
    /// Creates a file in memory that contains some bytes, to be read from its start. See
    /// memfd_create(2).
    ///
    /// - Parameter name: Its name in `/proc`.
    package static func holding(
        _ bytes: some Sequence<UInt8>, name: String
    ) throws(LinuxError) -> Descriptor {
        let file = try Descriptor(clinux_memory_file(name), "make a file in memory")
        guard file.write(bytes) else { throw .current("write a file in memory") }
        lseek(file.raw, 0, SEEK_SET)
        return file
    }

    /// Writes all of the bytes; `errno` is set if the result is `false`.
    package func write(_ bytes: some Sequence<UInt8>) -> Bool {
        var left = Array(bytes)[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { Glibc.write(raw, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return false }
            left = left.dropFirst(max(0, count))
        }
        return true
    }

    /// Reads the available bytes, up to 4 KiB; empty at the end, `nil` if there are none yet.
    package func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(raw, &buffer, buffer.count)
        guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : [] }
        return Array(buffer[..<count])
    }
}
