/// One appearance of an alert on the screen, as seen by its presenter.
public struct Presentation: Sendable {
    /// The alert, with its buttons and its source.
    public let record: AlertRecord
    /// How many alerts waited after it when it was put on the screen, counted up to 1,000.
    public let waitingCount: Int
    /// What screens call the alert's queue; `nil` where they show only one.
    package let queueName: String?
    private let clock: any AlertClock
    private let expiry: ClockReading?
    private let appeared: @Sendable () async -> Void
    private let dismissal: @Sendable () async -> Duration?
    private let waitingNow: (@Sendable () async -> WaitingAlerts)?
    private let recordNow: (@Sendable () async -> AlertRecord?)?
    private let withdrawal: (@Sendable (_ reason: String) async -> Void)?
    private var run: PresenterRun?

    package init(
        record: AlertRecord, waitingCount: Int, expiry: ClockReading?, clock: any AlertClock,
        appeared: @escaping @Sendable () async -> Void,
        dismissal: @escaping @Sendable () async -> Duration?,
        waiting: (@Sendable () async -> WaitingAlerts)? = nil,
        current: (@Sendable () async -> AlertRecord?)? = nil,
        withdraw: (@Sendable (_ reason: String) async -> Void)? = nil, queueName: String? = nil
    ) {
        self.record = record
        self.queueName = queueName
        self.waitingCount = waitingCount
        self.expiry = expiry
        self.clock = clock
        self.appeared = appeared
        self.dismissal = dismissal
        waitingNow = waiting
        recordNow = current
        withdrawal = withdraw
    }

    /// The same appearance, for the presenter of a run.
    func handingOver(to run: PresenterRun) -> Presentation {
        var presentation = self
        presentation.run = run
        return presentation
    }

    /// Submits the person's choice while the alert stays on the screen, and returns when the
    /// presenter should take it off.
    ///
    /// Until then the screen shows that the choice has been made: it is stored, and then delegates
    /// are notified. What ``AlertPresenter/present(_:)`` returns afterwards is ignored. If the
    /// choice can't be stored, ``AlertPresenter/didFail(_:error:)`` follows, and the alert is shown
    /// again. A presenter whose screen clears itself need not call this.
    ///
    /// ```swift
    /// struct Window: AlertPresenter {
    ///     let name = "window"
    ///     func present(_ presentation: Presentation) async throws -> PresenterChoice {
    ///         await presentation.didAppear()
    ///         let choice = PresenterChoice.button(0)  // What the person clicks, now marked.
    ///         await presentation.choose(choice)
    ///         return choice  // The window closes.
    ///     }
    /// }
    /// ```
    public func choose(_ choice: PresenterChoice) async { await run?.choose(choice) }

    /// The alerts that wait after it now.
    public func waiting() async -> WaitingAlerts {
        await waitingNow?() ?? WaitingAlerts(count: waitingCount)
    }

    /// The alert as it is now: somebody may have claimed it, and whoever waited for the response may
    /// be gone; see ``AlertRecord/claim`` and ``AlertRecord/isOrphaned``.
    public func currentRecord() async -> AlertRecord { await recordNow?() ?? record }

    /// Takes the alert back, so that nobody waits for an answer that can't come; the log has the
    /// reason.
    package func withdraw(because reason: String) async { await withdrawal?(reason) }

    /// What is asked.
    public var alert: Alert { record.alert }

    /// Reports that the alert is on the screen now: its auto-dismiss timer starts, and
    /// ``AlertManagerDelegate/didPresent(_:)`` is called. Calling it again has no effect.
    public func didAppear() async { await appeared() }

    /// The time until the deadline, negative once it has passed, or `nil` if there is none.
    public func timeUntilExpiry() -> Duration? {
        expiry.map { clock.now().time(until: $0) }
    }

    /// The time until the alert dismisses itself, at most 10 s while others wait, or `nil` if it
    /// does not, or has not appeared yet.
    public func timeUntilDismissal() async -> Duration? { await dismissal() }
}
