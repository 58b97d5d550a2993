import Glibc

/// A range of bytes in a file for a lock; they need not exist. See fcntl(2), `struct flock`.
package struct LockRange: Sendable, Hashable {
    package let start: Int64
    /// The number of bytes; 0 means all bytes from the start on, however long the file grows.
    package let length: Int64

    package static let wholeFile = LockRange(from: 0)

    package init(start: Int64, length: Int64) {
        self.start = start
        self.length = length
    }

    /// All bytes from an offset on.
    package init(from start: Int64) {
        self.init(start: start, length: 0)
    }

    func request(_ type: Int32) -> flock {
        var request = flock()
        request.l_type = Int16(type)
        request.l_whence = Int16(SEEK_SET)
        request.l_start = off_t(start)
        request.l_len = off_t(length)
        return request
    }
}
