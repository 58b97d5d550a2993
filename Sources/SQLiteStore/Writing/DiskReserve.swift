import AlertCore
import Glibc
import Linux

/// Room on the disk that is set aside, so that a full disk does not lock out a person who answers.
///
/// New alerts never touch it. It is given up when an answer does not fit otherwise, and set aside
/// again once there is room. Used under the writer lock only.
struct DiskReserve {
    /// Enough to answer some hundred alerts: their rows, their index pages and the log before them.
    static let size: off_t = 4 << 20
    /// How much is given up at a time.
    static let step: off_t = 256 << 10
    let path: String
    let mode: mode_t
    private var isSetAside = false

    init(path: String, mode: mode_t) {
        self.path = path
        self.mode = mode
    }

    /// Sets the room aside, if it is not already.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)`` if the disk is too full for it.
    mutating func setAside() throws(AlertError) {
        if isSetAside, let size = FileIdentity(path: path)?.size, size >= Self.size { return }
        let descriptor = try Descriptor.open(path, mode: mode)
        let code = posix_fallocate(descriptor.raw, 0, Self.size)
        guard code == 0 else {
            ftruncate(descriptor.raw, 0)
            throw .storage(
                operation: "set \(Self.size >> 20) MiB aside in \(path)",
                code == ENOSPC ? diskFullReason : String(cString: strerror(code)))
        }
        isSetAside = true
    }

    /// Whether there was room set aside that has been given up, by any process.
    var isGivenUp: Bool {
        guard let size = FileIdentity(path: path)?.size else { return false }
        return size < Self.size
    }

    /// Gives some of the room up; returns whether there was any.
    ///
    /// No more than an answer may need: what is free on a full disk, another program takes.
    mutating func giveUp() -> Bool {
        isSetAside = false
        guard let size = FileIdentity(path: path)?.size, size > 0,
            let descriptor = try? Descriptor.open(path, mode: mode)
        else { return false }
        return ftruncate(descriptor.raw, max(0, off_t(size) - Self.step)) == 0
    }
}

/// What a caller can do about a full disk.
let diskFullReason =
    "the disk is full; new alerts need free space, and so do answers once the reserve is used up"
