import Synchronization

/// A value that is delivered once, to the one task that waits for it.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value, Never>)
        case delivered(Value)
    }

    private let state = Mutex(State.pending)

    package init() {}

    /// Whether the value is there.
    package var isDelivered: Bool { deliveredValue != nil }

    /// Delivers a value, unless there is one already.
    package func deliver(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .pending:
                state = .delivered(value)
                return nil
            case .awaited(let continuation):
                state = .delivered(value)
                return continuation
            case .delivered:
                return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// Waits for the value; a cancelled task waits, too.
    package nonisolated(nonsending) func value() async -> Value {
        if let value = deliveredValue { return value }
        return await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if case .delivered(let value) = state { return value }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }

    private var deliveredValue: Value? {
        state.withLock { if case .delivered(let value) = $0 { value } else { nil } }
    }
}
