import Synchronization

/// An alarm that goes off once, at the earliest moment set.
package final class Alarm: Sendable {
    private struct State {
        var next: (moment: ClockReading, task: Task<Void, Never>)?
        var isCancelled = false
    }

    private let clock: any AlertClock
    private let state = Mutex(State())

    package init(clock: any AlertClock) {
        self.clock = clock
    }

    deinit { cancel() }

    /// Schedules an action at a moment, unless the alarm goes off earlier anyway.
    package func set(
        at moment: ClockReading, _ body: @escaping @Sendable () async -> Void
    ) {
        let now = clock.now()
        state.withLock { state in
            guard !state.isCancelled else { return }
            if let next = state.next, now.time(until: next.moment) <= now.time(until: moment) {
                return
            }
            state.next?.task.cancel()
            let task = Task { [weak self, clock] in
                guard (try? await clock.sleep(until: moment)) != nil else { return }
                self?.wentOff(at: moment)
                await body()
            }
            state.next = (moment, task)
        }
    }

    /// Cancels the alarm permanently.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.next?.task.cancel()
            state.next = nil
        }
    }

    private func wentOff(at moment: ClockReading) {
        state.withLock { state in
            // It may have been set again in the meantime.
            if state.next?.moment == moment { state.next = nil }
        }
    }
}
