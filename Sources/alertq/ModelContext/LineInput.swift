import Dispatch
import Linux

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
            do throws(LinuxError) {
                let count = try SharedDescriptor.read(descriptor, into: &buffer)
                guard count > 0 else {
                    splitter.finish(body)
                    return nil
                }
                splitter.add(buffer[..<count], body)
            } catch {
                return error.code
            }
        }
    }
}
