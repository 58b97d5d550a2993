import CLinux
import Glibc

/// Both ends of a pipe, which children don't inherit. See pipe(2).
package struct Pipe: Sendable {
    package let reading: Descriptor
    package let writing: Descriptor

    /// Creates a pipe.
    ///
    /// - Parameter waits: Whether a reader waits for bytes; otherwise reading fails if there are
    ///   none.
    package init(waits: Bool = false) throws(LinuxError) {
        var ends: [Int32] = [-1, -1]
        guard clinux_pipe(&ends) == 0 else { throw .current("make a pipe") }
        reading = Descriptor(owning: ends[0])
        writing = Descriptor(owning: ends[1])
        if !waits { _ = fcntl(reading.raw, F_SETFL, O_NONBLOCK) }
    }
}
