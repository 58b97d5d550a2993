import Dispatch
import Synchronization

/// Holds a thread that comes to it until a test opens it; from then on, everybody passes.
///
/// ```swift
/// let gate = Gate()
/// async let held: Void = onItsThread { gate.pass() }
/// #expect(await gate.holdsSomebody())
/// // What comes now must wait.
/// gate.open()
/// ```
package final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let isReached = Atomic(false)

    package init() {}

    /// Waits on the calling thread until the gate is open.
    package func pass() {
        isReached.store(true, ordering: .releasing)
        semaphore.wait()
        semaphore.signal()
    }

    /// Whether a thread comes to the gate soon, or has come.
    package func holdsSomebody() async -> Bool {
        await eventually { self.isReached.load(ordering: .acquiring) }
    }

    package func open() { semaphore.signal() }
}
