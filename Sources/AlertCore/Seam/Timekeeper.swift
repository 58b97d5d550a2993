import Synchronization

/// Applies the deadlines of a queue and ends its snoozes for as long as a store is open.
///
/// Each store that is open for writing handles all of them, even if no process shows, reads or
/// waits.
package final class Timekeeper: Sendable {
    /// Stores what is due, and returns the next moment at which something will be, if it is known.
    package typealias Sweep = @Sendable () async throws(AlertError) -> ClockReading?

    /// When the queue is first examined; a process that ends sooner is spared that, and stores
    /// expiries with its first change.
    private static let timeToFirstLook = Duration.milliseconds(100)
    /// How often the queue is examined, for changes by other processes and for clocks that were
    /// set.
    private static let pauseBetweenLooks = Duration.seconds(1)
    /// For how long looks may fail before that is reported.
    private static let patience = Duration.seconds(4)

    private struct State {
        var sweep: Sweep?
        var looks: Task<Void, Never>?
        var run = Run.none
        /// Since when each look has failed.
        var failingSince: ContinuousClock.Instant?
        /// Why nothing can be stored, once that has been reported.
        var trouble: AlertError?
        var hasChange = false
    }

    /// Whether it runs right now, and whether it must run once more after that.
    private enum Run { case none, once, again }

    private let clock: any AlertClock
    private let onTrouble: @Sendable (AlertError) -> Void
    private let alarm: Alarm
    private let state = Mutex(State())

    /// - Parameter onTrouble: Called if nothing can be stored for a longer time, and not again until
    ///   something was stored.
    package init(
        clock: any AlertClock, onTrouble: @escaping @Sendable (AlertError) -> Void = { _ in }
    ) {
        self.clock = clock
        alarm = Alarm(clock: clock)
        self.onTrouble = onTrouble
    }

    deinit { stop() }

    /// - Parameter sweep: Must not keep its store alive.
    package func start(_ sweep: @escaping Sweep) {
        let looks = Task { [weak self] in
            var pause = Self.timeToFirstLook
            // The sleep ends early when the store has been closed or is gone.
            while (try? await Task.sleep(for: pause)) != nil {
                guard let self else { return }
                await self.applyDeadlines()
                pause = Self.pauseBetweenLooks
            }
        }
        state.withLock { ($0.sweep, $0.looks) = (sweep, looks) }
    }

    package func stop() {
        alarm.cancel()
        state.withLock { $0.looks?.cancel() }
    }

    /// Notes a change through the store; returns whether it is the first one.
    package func takeFirstChange() -> Bool {
        state.withLock { state in
            defer { state.hasChange = true }
            return !state.hasChange
        }
    }

    /// Runs once more at a moment, unless it does so earlier anyway.
    package func setAlarm(at moment: ClockReading) {
        alarm.set(at: moment) { [weak self] in await self?.applyDeadlines() }
    }

    /// Why what is due can't be stored, if that lasts.
    package var trouble: AlertError? { state.withLock { $0.trouble } }

    /// Runs now, because something was found to be due.
    package func lookNow() {
        Task { [weak self] in await self?.applyDeadlines() }
    }

    package var isApplyingDeadlines: Bool { state.withLock { $0.run != .none } }

    /// Stores what is due, and sets the alarm for what will be.
    private func applyDeadlines() async {
        let isRunning = state.withLock { state in
            defer { state.run = state.run == .none ? .once : .again }
            return state.run != .none
        }
        guard !isRunning else { return }
        repeat {
            await applyDeadlinesOnce()
        } while state.withLock { state in
            defer { state.run = state.run == .again ? .once : .none }
            return state.run == .again
        }
    }

    private func applyDeadlinesOnce() async {
        guard let sweep = state.withLock({ $0.sweep }) else { return }
        do throws(AlertError) {
            let next = try await sweep()
            // What is still overdue now can't be stored: trying each second is enough.
            if let next, !clock.now().isAtOrAfter(next) { setAlarm(at: next) }
            state.withLock { ($0.failingSince, $0.trouble) = (nil, nil) }
        } catch {
            report(error)
        }
    }

    /// Reports once that nothing can be stored, if that lasts; storing is tried again each second.
    private func report(_ error: AlertError) {
        switch error {
        // Everything in this process ends with that error.
        case .closed, .incompatible: return
        default: break
        }
        // The wait for a lock, or for a server, is already over.
        let isBusy =
            switch error {
            case .busy, .unreachable: true
            default: false
            }
        let isTimeToReport = state.withLock { state in
            let since = state.failingSince ?? .now
            state.failingSince = since
            guard isBusy || since.duration(to: .now) >= Self.patience, state.trouble == nil else {
                return false
            }
            state.trouble = error
            return true
        }
        if isTimeToReport { onTrouble(error) }
    }
}
