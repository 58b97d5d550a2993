/// Whether an alert is on the screen, what waits after it, and for how long it stays there.
actor Appearance: QueueActor {
    nonisolated let context: QueueContext
    private let record: AlertRecord
    private let signals: ShowSignals
    /// The names of all presenters of the screen, which the log tells.
    private let names: [String]
    private var waiting: WaitingAlerts
    private var notice: NoticeTimer?
    private(set) var isOnScreen = false
    /// Whether a delegate has heard that it is on the screen.
    private var isTold = false
    /// Whether it is being taken off the screen: what appears only now has not been presented.
    private var isOver = false

    init(
        of record: AlertRecord, waiting: WaitingAlerts, on names: [String],
        _ signals: ShowSignals, in context: QueueContext
    ) {
        self.record = record
        self.waiting = waiting
        self.names = names
        self.signals = signals
        self.context = context
    }

    /// The appearance as its presenters see it.
    nonisolated func presentation(until expiry: ClockReading?, waiting: WaitingAlerts)
        -> Presentation
    {
        Presentation(
            record: record, waitingBehind: waiting.count, expiry: expiry, clock: context.clock,
            appeared: { [weak self] in await self?.note() },
            dismissal: { [weak self] in await self?.timeUntilDismissal() },
            waiting: { [weak self] in await self?.countWaiting() ?? waiting })
    }

    /// Notes that the alert is on the screen, if that is news.
    func note() {
        guard !isOnScreen, !isOver else { return }
        let now = context.clock.now()
        isOnScreen = true
        if record.alert.buttons.isEmpty {
            notice = NoticeTimer(
                for: record.alert.dismissAfter ?? .seconds(2), from: now, context.clock
            ) { [weak self] in
                await (self?.countWaiting().count ?? 0) > 0
            } mustLeave: { [signals] in
                signals.send(.dismissTimerFired)
            }
        }
        var shown = record
        shown.state = .presented
        let caller = context.caller.through(names.joined(separator: " "))
        context.store.post(.presented(shown, at: now), by: caller)
        if context.delegates[record.id] != nil { signals.send(.appeared) }
    }

    /// Tells a delegate that the alert is on the screen, once.
    func tell() async {
        guard isOnScreen, !isTold else { return }
        isTold = true
        guard context.delegates.beginsPresentation(of: record.id) else { return }
        var shown = record
        shown.state = .presented
        await context.delegates[record.id]?.didPresent(shown)
    }

    /// Notes that the alert is being taken off the screen, which the delegate is to hear after its
    /// appearance.
    func end() async {
        isOver = true
        await tell()
    }

    /// Lets it stay, though its time may be over: it has another end.
    func stopTimer() { notice?.cancel() }

    private func timeUntilDismissal() -> Duration? {
        notice?.timeLeft(othersWait: waiting.count > 0)
    }

    /// What waits after the alert; as before, if that can't be read.
    private func countWaiting() async -> WaitingAlerts {
        if let now = try? await context.store.waiting(besides: record.id) { waiting = now }
        return waiting
    }
}
