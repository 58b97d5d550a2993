import AlertQueue
import ProcessTesting
import Synchronization
import TestSupport
import Testing

/// Whether something has happened yet.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
