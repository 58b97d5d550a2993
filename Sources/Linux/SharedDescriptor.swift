import Glibc

/// Reading and writing descriptors that this process shares with others, such as its standard
/// input and output.
///
/// Whether they block is a flag of the open file, and so belongs to all who share it: a parent such
/// as Node or a shell may depend on it. These functions wait where a call would have to, and leave
/// the flag alone.
package enum SharedDescriptor {
    /// Reads what there is, and waits if there is nothing yet; see read(2).
    ///
    /// - Parameter buffer: Gets the bytes at its beginning.
    /// - Returns: How many bytes were read; 0 at the end.
    package static func read(
        _ raw: Int32, into buffer: inout [UInt8]
    ) throws(LinuxError) -> Int {
        while true {
            let count = Glibc.read(raw, &buffer, buffer.count)
            guard count < 0 else { return count }
            try wait(for: POLLIN, on: raw, "read")
        }
    }

    /// Writes all bytes, and waits for a slow reader; see write(2).
    package static func write(_ bytes: [UInt8], to raw: Int32) throws(LinuxError) {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.write(raw, $0.baseAddress, $0.count)
            }
            if count >= 0 { start += count } else { try wait(for: POLLOUT, on: raw, "write") }
        }
    }

    /// Waits after a call has failed; see poll(2).
    ///
    /// - Throws: The call's error, unless it can be repeated.
    private static func wait(
        for event: Int32, on raw: Int32, _ operation: String
    ) throws(LinuxError) {
        switch errno {
        case EINTR: return
        case EAGAIN:
            var request = pollfd(fd: raw, events: Int16(event), revents: 0)
            _ = poll(&request, 1, -1)
        default: throw .current(operation)
        }
    }
}
