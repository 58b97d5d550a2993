import Dispatch
import Glibc

/// Reads lines from a descriptor, on a thread that may block.
struct LineInput: Sendable {
    let descriptor: Int32

    /// Passes on each line, one after the other, and then how the input has ended: `nil` for its
    /// end, or the number of an error; see errno(3).
    func read(
        _ body: @escaping @Sendable (LineSplitter.Line) -> Void,
        whenDone: @escaping @Sendable (Int32?) -> Void
    ) {
        // A queue of its own has a thread of its own while it is blocked.
        DispatchQueue(label: "alertq.mcp.input").async {
            whenDone(readAll(body))
        }
    }

    private func readAll(_ body: (LineSplitter.Line) -> Void) -> Int32? {
        var splitter = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                splitter.add(buffer[..<count], body)
            } else if count == 0 {
                splitter.finish(body)
                return nil
            } else if errno == EAGAIN {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
    }
}
