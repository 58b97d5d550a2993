import Foundation
import Glibc
import Linux
import Synchronization
import TestSupport

/// A port of 127.0.0.1 that passes bytes to a server's socket and back, until it is told not to.
package final class Proxy: Sendable {
    /// What happens to a connection once it has passed some bytes in one direction.
    package enum Fault: Sendable {
        /// Both sides see its end.
        case cut
        /// Neither side hears anything any longer.
        case stall
    }

    package enum Direction: Sendable { case toServer, toClient }

    private struct State {
        var fault: (kind: Fault, direction: Direction, bytesLeft: Int)?
        var hasFailed = false
        var passed = [Direction.toServer: 0, .toClient: 0]
    }

    package let port: UInt16
    private let listener: Descriptor
    private let target: String
    private let state = Mutex(State())

    package init(to target: String) throws {
        let socket = try LocalSocket.listening()
        (listener, port, self.target) = (socket.descriptor, socket.port, target)
        // It ends when the listening socket is shut down, and keeps it open until then.
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let raw = accept(listener.raw, nil, nil)
                guard raw >= 0 else { return }
                self?.serve(Descriptor(owning: raw))
            }
        }
    }

    deinit { shutdown(listener.raw, Int32(SHUT_RDWR)) }

    /// Lets a fault happen when this many more bytes have passed in a direction, to all
    /// connections from now on.
    package func fail(_ kind: Fault, after bytes: Int, _ direction: Direction) {
        state.withLock {
            $0.fault = (kind, direction, bytes)
            $0.hasFailed = false
        }
    }

    /// Passes everything again.
    package func heal() {
        state.withLock {
            $0.fault = nil
            $0.hasFailed = false
        }
    }

    /// Whether the fault has happened.
    package var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// How many bytes have passed in a direction.
    package func passed(_ direction: Direction) -> Int {
        state.withLock { $0.passed[direction] ?? 0 }
    }

    private func serve(_ client: Descriptor) {
        guard let server = try? UnixSocket.connect(to: target) else { return }
        pass(from: client, to: server, .toServer)
        pass(from: server, to: client, .toClient)
    }

    private func pass(from source: Descriptor, to target: Descriptor, _ direction: Direction) {
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(source.raw, &buffer, buffer.count)
                guard count > 0 else { break }
                let (allowed, fault) = admit(count, direction)
                guard target.write(buffer[..<allowed]) else { break }
                switch fault {
                case nil: continue
                case .cut: break
                case .stall:
                    // Nothing is read any longer, and nothing closed, until the test is over.
                    while state.withLock({ $0.hasFailed }) { usleep(1000) }
                }
                break
            }
            shutdown(target.raw, Int32(SHUT_RDWR))
            shutdown(source.raw, Int32(SHUT_RDWR))
        }
    }

    /// How many of the bytes pass, and what happens after them.
    private func admit(_ count: Int, _ direction: Direction) -> (Int, Fault?) {
        state.withLock { state in
            guard let fault = state.fault else {
                state.passed[direction, default: 0] += count
                return (count, nil)
            }
            if state.hasFailed { return (0, fault.kind) }
            guard fault.direction == direction else {
                state.passed[direction, default: 0] += count
                return (count, nil)
            }
            let allowed = min(count, fault.bytesLeft)
            state.passed[direction, default: 0] += allowed
            state.fault?.bytesLeft -= allowed
            if allowed == count { return (count, nil) }
            state.hasFailed = true
            return (allowed, fault.kind)
        }
    }
}
