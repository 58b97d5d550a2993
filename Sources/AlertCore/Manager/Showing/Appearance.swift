import Synchronization

/// Whether an alert is on the screen, what waits after it, and how long it stays.
final class Appearance: Sendable {
    private struct State {
        var waiting: WaitingAlerts
        var notice: NoticeTimer?
        var isOnScreen = false
        /// Whether it is on another screen, which its asker's delegate is notified of.
        var isElsewhere = false
        /// Whether a delegate has been notified that it is on the screen.
        var isTold = false
        /// Whether it is leaving the screen: an appearance after that does not count.
        var isOver = false
    }

    private let context: QueueContext
    private let record: AlertRecord
    private let signals: ShowSignals
    /// The names of the presenters that may show it, for the log.
    private let names: [String]
    private let state: Mutex<State>

    init(
        of record: AlertRecord, waiting: WaitingAlerts, on names: [String],
        _ signals: ShowSignals, in context: QueueContext
    ) {
        self.record = record
        self.names = names
        self.signals = signals
        self.context = context
        state = Mutex(State(waiting: waiting))
    }

    /// The appearance as its presenters see it.
    func presentation(until expiry: ClockReading?, waiting: WaitingAlerts) -> Presentation {
        Presentation(
            record: record, waitingBehind: waiting.count, expiry: expiry, clock: context.clock,
            appeared: { [weak self] in self?.note() },
            dismissal: { [weak self] in self?.timeUntilDismissal() },
            waiting: { [weak self] in await self?.countWaiting() ?? waiting },
            queueName: context.queueName)
    }

    var isOnScreen: Bool { state.withLock { $0.isOnScreen } }

    /// Records that the alert is on the screen, unless it already was.
    ///
    /// It does not run on the manager's queue: the presenter that calls it continues at once.
    func note() {
        let now = context.clock.now()
        // All of it under the lock: the next caller finds it done.
        let isNew = state.withLock { state in
            guard !state.isOnScreen, !state.isOver else { return false }
            state.isOnScreen = true
            if record.alert.buttons.isEmpty { state.notice = makeNotice(now) }
            context.noteAppearance(of: record, on: names, at: now)
            return true
        }
        if isNew, context.delegates[record.id] != nil { signals.send(.appeared) }
    }

    /// Records that the alert is on another screen.
    func noteElsewhere() {
        state.withLock { $0.isElsewhere = true }
        signals.send(.appeared)
    }

    private func makeNotice(_ now: ClockReading) -> NoticeTimer {
        NoticeTimer(
            for: record.alert.dismissAfter ?? .seconds(2), from: now, context.clock
        ) { [weak self] in
            await (self?.countWaiting().count ?? 0) > 0
        } mustLeave: { [signals] in
            signals.send(.dismissTimerFired)
        }
    }

    /// Notifies a delegate, once, that the alert is on the screen.
    nonisolated(nonsending) func tell() async {
        let isNew = state.withLock { state in
            guard state.isOnScreen || state.isElsewhere, !state.isTold else { return false }
            state.isTold = true
            return true
        }
        guard isNew, context.delegates.beginsPresentation(of: record.id) else { return }
        var shown = record
        shown.state = .presented
        await context.delegates[record.id]?.didPresent(shown)
    }

    /// Records that the alert is leaving the screen; the delegate is notified of its appearance
    /// first.
    nonisolated(nonsending) func end() async {
        state.withLock { $0.isOver = true }
        await tell()
    }

    /// Cancels the timer of its time on the screen: the alert has ended in another way.
    func stopTimer() { state.withLock { $0.notice }?.cancel() }

    private func timeUntilDismissal() -> Duration? {
        state.withLock { $0.notice?.timeLeft(othersWait: $0.waiting.count > 0) }
    }

    /// What waits after the alert; the previous value if that can't be read.
    private func countWaiting() async -> WaitingAlerts {
        guard let now = try? await context.store.waiting(besides: record.id) else {
            return state.withLock { $0.waiting }
        }
        state.withLock { $0.waiting = now }
        return now
    }
}
