import CLinux
import Glibc

/// An open file, closed when nobody refers to it any more.
///
/// Always opened `O_CLOEXEC`, so that no child keeps its locks.
final class Descriptor: Sendable {
    let raw: Int32
    /// Which file it is; that never changes while it is open.
    private let identity: FileIdentity?

    init(owning raw: Int32) {
        self.raw = raw
        identity = FileIdentity(descriptor: raw)
    }

    deinit {
        close(raw)
    }

    /// Opens a file for reading and writing; a missing one is created with exactly `mode`, whatever
    /// the umask.
    ///
    /// - Throws: ``AlertError/notPermitted(path:_:)`` or ``AlertError/storage(operation:_:)``.
    static func open(_ path: String, mode: mode_t) throws(AlertError) -> Descriptor {
        let flags = O_RDWR | safeFlags
        var raw = Glibc.open(path, flags)
        if raw < 0, errno == ENOENT {
            raw = Glibc.open(path, flags | O_CREAT | O_EXCL, mode)
            if raw >= 0 {
                fchmod(raw, mode)
            } else if errno == EEXIST {
                // Somebody else created it in between.
                raw = Glibc.open(path, flags)
            }
        }
        guard raw >= 0 else {
            guard errno != ELOOP else { throw Self.refusal(of: path) }
            throw SystemError.current("open", path)
        }
        let descriptor = Descriptor(owning: raw)
        guard descriptor.isPlainFile else { throw Self.refusal(of: path) }
        return descriptor
    }

    /// Whoever may write the directory could make a name lead to a file of somebody else's, or to
    /// a pipe that never opens; see symlink(7) and fifo(7).
    private static let safeFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    private static func refusal(of path: String) -> AlertError {
        .notPermitted(path: path, "it is a link or no plain file, and is not touched")
    }

    /// Whether it is a file with one name.
    private var isPlainFile: Bool {
        var status = stat()
        return fstat(raw, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_nlink <= 1
    }

    /// Opens a file that must exist already, for reading; `nil` if that fails.
    static func openForReading(_ path: String) -> Descriptor? {
        let raw = Glibc.open(path, O_RDONLY | safeFlags)
        guard raw >= 0 else { return nil }
        let descriptor = Descriptor(owning: raw)
        return descriptor.isPlainFile ? descriptor : nil
    }

    /// Whether the path still leads to this very file.
    ///
    /// A lock file that was deleted or replaced would otherwise give two holders.
    func isStill(at path: String) -> Bool {
        identity != nil && identity == FileIdentity(path: path)
    }

    /// Locks the whole file, if nobody else's lock is in the way; a false result leaves `errno`.
    ///
    /// The lock belongs to this open file description; see fcntl(2), `F_OFD_SETLK`.
    func tryLock(_ type: Int32) -> Bool {
        var request = Self.wholeFile(type)
        return clinux_ofd_setlk(raw, &request) == 0
    }

    /// Whether somebody else's lock would be in the way of an exclusive one; see fcntl(2),
    /// `F_OFD_GETLK`.
    var isLockedByOthers: Bool {
        var request = Self.wholeFile(F_WRLCK)
        return clinux_ofd_getlk(raw, &request) == 0 && Int32(request.l_type) != F_UNLCK
    }

    private static func wholeFile(_ type: Int32) -> flock {
        var request = flock()
        request.l_type = Int16(type)
        request.l_whence = Int16(SEEK_SET)
        return request
    }
}

/// Which file something is, whatever it is called.
///
/// A file that is deleted leaves its inode's number to the next one at once, so the moment of its
/// birth belongs to its identity; see statx(2).
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    private let bornSeconds: Int64
    private let bornNanoseconds: Int64
    /// Its size in bytes; not part of its identity, but learnt with it.
    let size: Int64

    init?(path: String) {
        var file = clinux_file()
        guard !path.isEmpty, clinux_file_look(AT_FDCWD, path, &file) == 0 else { return nil }
        self.init(file)
    }

    init?(descriptor: Int32) {
        var file = clinux_file()
        guard clinux_file_look(descriptor, "", &file) == 0 else { return nil }
        self.init(file)
    }

    private init(_ file: clinux_file) {
        device = file.device
        inode = file.inode
        bornSeconds = file.born_seconds
        bornNanoseconds = file.born_nanoseconds
        size = file.size
    }

    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
            && left.bornSeconds == right.bornSeconds
            && left.bornNanoseconds == right.bornNanoseconds
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
        hasher.combine(bornNanoseconds)
    }
}

/// The one gate that turns `errno` into an ``AlertError``.
enum SystemError {
    static func current(_ operation: String, _ path: String) -> AlertError {
        let code = errno
        let reason = String(cString: strerror(code))
        return code == EACCES || code == EPERM
            ? .notPermitted(path: path, reason)
            : .storage(operation: "\(operation) \(path)", reason)
    }
}
