import Dispatch
import Synchronization

/// Holds a thread that comes to it until a test opens it; from then on, every thread passes.
///
/// ```swift
/// let gate = Gate()
/// async let held: Void = onItsThread { gate.pass() }
/// #expect(await gate.isReached())
/// // What comes now must wait.
/// gate.open()
/// ```
package final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let hasArrival = Atomic(false)

    package init() {}

    /// Waits on the calling thread until the gate is open.
    package func pass() {
        hasArrival.store(true, ordering: .releasing)
        semaphore.wait()
        semaphore.signal()
    }

    /// Waits until the gate is open, without blocking the task's executor.
    package func hold() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.pass()
                continuation.resume()
            }
        }
    }

    /// Waits until a thread has reached the gate; `false` if none does in the time that tests wait.
    package func isReached() async -> Bool {
        await eventually { self.hasArrival.load(ordering: .acquiring) }
    }

    package func open() { semaphore.signal() }
}
