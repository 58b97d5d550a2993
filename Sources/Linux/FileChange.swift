import Glibc

/// The attributes that show whether a file was written; see stat(2).
package struct FileChange: Equatable {
    /// How far the times of files may be behind, in microseconds.
    package static let step: UInt32 = 20_000
    private let inode: UInt
    private let size: Int
    private let modified: Int64

    /// `nil` where there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (inode, size) = (status.st_ino, status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Whether it was written so recently that another write may leave the same time.
    package var isRecent: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return (Self.nanoseconds(now) - modified).magnitude < UInt64(Self.step) * 1000
    }
}
