import Synchronization

/// Whether an alert is on the screen, what waits after it, and for how long it stays there.
final class Appearance: Sendable {
    private struct State {
        var waiting: WaitingAlerts
        var notice: NoticeTimer?
        var isOnScreen = false
        /// Whether a delegate has heard that it is on the screen.
        var isTold = false
        /// Whether it is being taken off the screen: what appears only now has not been presented.
        var isOver = false
    }

    private let context: QueueContext
    private let record: AlertRecord
    private let signals: ShowSignals
    /// The names of all presenters of the screen, which the log tells.
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
            waiting: { [weak self] in await self?.countWaiting() ?? waiting })
    }

    var isOnScreen: Bool { state.withLock { $0.isOnScreen } }

    /// Notes that the alert is on the screen, if that is news.
    ///
    /// Not on the manager's queue: a presenter that says so goes on at once.
    func note() {
        let now = context.clock.now()
        // All of it under the lock: whoever calls next finds it done.
        let isNew = state.withLock { state in
            guard !state.isOnScreen, !state.isOver else { return false }
            state.isOnScreen = true
            if record.alert.buttons.isEmpty { state.notice = makeNotice(now) }
            var shown = record
            shown.state = .presented
            let caller = context.caller.through(names.joined(separator: " "))
            context.store.post(.presented(shown, at: now), by: caller)
            return true
        }
        if isNew, context.delegates[record.id] != nil { signals.send(.appeared) }
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

    /// Tells a delegate that the alert is on the screen, once.
    func tell() async {
        let isNew = state.withLock { state in
            guard state.isOnScreen, !state.isTold else { return false }
            state.isTold = true
            return true
        }
        guard isNew, context.delegates.beginsPresentation(of: record.id) else { return }
        var shown = record
        shown.state = .presented
        await context.delegates[record.id]?.didPresent(shown)
    }

    /// Notes that the alert is being taken off the screen, which the delegate is to hear after its
    /// appearance.
    func end() async {
        state.withLock { $0.isOver = true }
        await tell()
    }

    /// Lets it stay, though its time may be over: it has another end.
    func stopTimer() { state.withLock { $0.notice }?.cancel() }

    private func timeUntilDismissal() -> Duration? {
        state.withLock { $0.notice?.timeLeft(othersWait: $0.waiting.count > 0) }
    }

    /// What waits after the alert; as before, if that can't be read.
    private func countWaiting() async -> WaitingAlerts {
        guard let now = try? await context.store.waiting(besides: record.id) else {
            return state.withLock { $0.waiting }
        }
        state.withLock { $0.waiting = now }
        return now
    }
}
