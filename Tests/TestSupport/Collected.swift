import Dispatch
import Glibc
import Linux
import Synchronization

/// The output from a descriptor, collected as it arrives.
package final class Collected: Sendable {
    private struct State {
        /// `nil` once there is nothing more to read.
        var descriptor: Descriptor?
        var bytes: [UInt8] = []
    }

    private let state: Mutex<State>
    private let isTerminal: Bool

    /// Reads until the end; a terminal whose session ended (EIO) may return with the next one.
    ///
    /// - Parameter descriptor: A descriptor that does not block if there is nothing to read yet.
    package init(_ descriptor: Descriptor, isTerminal: Bool = false) {
        state = Mutex(State(descriptor: descriptor))
        self.isTerminal = isTerminal
        DispatchQueue(label: "collect").async { [weak self] in
            while true {
                var request = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
                poll(&request, 1, 100)
                guard let self, !self.isOver else { return }
                if request.revents != 0, !self.gather() { usleep(2000) }
            }
        }
    }

    /// All bytes up to this moment.
    package var bytes: [UInt8] {
        gather()
        return state.withLock { $0.bytes }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The line that begins at a byte, without its line break; `nil` until it is complete.
    package func line(from start: Int) -> [UInt8]? {
        let rest = bytes[start...]
        return rest.firstIndex(of: UInt8(ascii: "\n")).map { Array(rest[..<$0]) }
    }

    /// The whole output, once the writer has closed its end.
    package func complete() async -> String {
        _ = await eventually { isOver }
        return text
    }

    /// Stops reading, and releases the descriptor.
    package func abandon() { state.withLock { $0.descriptor = nil } }

    private var isOver: Bool { state.withLock { $0.descriptor == nil } }

    /// Takes the available bytes; returns whether more may be available at once.
    @discardableResult
    private func gather() -> Bool {
        state.withLock { state in
            // A writer that never pauses must not block readers of what has arrived.
            for _ in 0..<256 {
                guard let descriptor = state.descriptor else { return false }
                guard let bytes = descriptor.read() else { return true }
                guard !bytes.isEmpty else {
                    if !isTerminal { state.descriptor = nil }
                    return false
                }
                state.bytes += bytes
            }
            return true
        }
    }
}
