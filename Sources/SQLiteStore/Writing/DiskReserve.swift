import AlertCore
import Glibc
import Linux

/// Disk space that is reserved so that a full disk does not prevent a person from answering.
///
/// New alerts never use it. It is released when an answer does not fit otherwise, and reserved
/// again once there is space. Used under the writer lock only.
struct DiskReserve {
    /// Enough to answer about a hundred alerts: their rows, their index pages and the log before
    /// them.
    static let size: off_t = 4 << 20
    /// How much is released at a time.
    static let step: off_t = 256 << 10
    let path: String
    let mode: mode_t
    private var isAllocated = false

    init(path: String, mode: mode_t) {
        self.path = path
        self.mode = mode
    }

    /// Reserves the space, unless it is already reserved.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)`` if the disk is too full; what was reserved
    ///   remains so.
    mutating func allocate() throws(AlertError) {
        if isAllocated, let size = FileIdentity(path: path)?.size, size >= Self.size { return }
        let descriptor = try Descriptor.open(path, mode: mode)
        let size = FileIdentity.size(of: path)
        let code = posix_fallocate(descriptor.raw, 0, Self.size)
        guard code == 0 else {
            // What is left of it is for the answers; the rest is free for everybody.
            ftruncate(descriptor.raw, off_t(size))
            throw .storage(
                operation: "set \(Self.size >> 20) MiB aside in \(path)",
                code == ENOSPC ? diskFullReason : String(cString: strerror(code)))
        }
        isAllocated = true
    }

    /// Whether reserved space has been released, by any process.
    var isReleased: Bool {
        guard let size = FileIdentity(path: path)?.size else { return false }
        return size < Self.size
    }

    /// Releases some of the space; returns whether there was any.
    ///
    /// No more than an answer may need: other programs take free space on a full disk.
    mutating func release() -> Bool {
        isAllocated = false
        guard let size = FileIdentity(path: path)?.size, size > 0,
            let descriptor = try? Descriptor.open(path, mode: mode)
        else { return false }
        return ftruncate(descriptor.raw, max(0, off_t(size) - Self.step)) == 0
    }
}

/// What a caller can do about a full disk.
let diskFullReason =
    "the disk is full; new alerts need free space, and so do answers once the reserve is used up"
