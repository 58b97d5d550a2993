import Synchronization

/// Delivers the signals of one appearance to its only reader, in the order in which they come.
///
/// Reading an `AsyncStream` leaves the reader's executor and returns to it, which takes twice as
/// many thread switches.
final class ShowSignals: Sendable {
    private struct State {
        var signals: [ShowSignal] = []
        var reader: CheckedContinuation<ShowSignal, Never>?
        var isFinished = false

        /// Whether the signal is redundant: one that may be sent again and again, and that is
        /// already waiting.
        func isWaiting(_ signal: ShowSignal) -> Bool {
            signal.repetition != nil && signals.contains { $0.repetition == signal.repetition }
        }
    }

    private let state = Mutex(State())

    /// Adds a signal, unless the reader has finished.
    ///
    /// None is lost, however far behind the reader is: what may be sent repeatedly waits only once,
    /// and a presenter's run sends one signal at a time.
    func send(_ signal: ShowSignal) {
        let reader = state.withLock { state -> CheckedContinuation<ShowSignal, Never>? in
            guard !state.isFinished else { return nil }
            if let reader = state.reader.take() { return reader }
            if !state.isWaiting(signal) { state.signals.append(signal) }
            return nil
        }
        reader?.resume(returning: signal)
    }

    /// Waits for the next signal; only one task may do so.
    nonisolated(nonsending) func next() async -> ShowSignal {
        await withCheckedContinuation { continuation in
            let signal = state.withLock { state -> ShowSignal? in
                guard state.signals.isEmpty else { return state.signals.removeFirst() }
                state.reader = continuation
                return nil
            }
            if let signal { continuation.resume(returning: signal) }
        }
    }

    /// Accepts no more signals, and returns those that have not been read.
    func finish() -> [ShowSignal] {
        state.withLock { state in
            state.isFinished = true
            // Each refers to its presenter's run, which refers to this object.
            defer { state.signals = [] }
            return state.signals
        }
    }
}
