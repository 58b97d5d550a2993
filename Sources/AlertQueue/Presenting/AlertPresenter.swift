import FoundationEssentials

/// Whatever shows an alert to a person: a terminal, a notification, a window.
///
/// A presenter needs one method. It shows the alert, waits for the person, and returns what the
/// person chose; the manager commits the choice before anybody is told that it counts.
///
/// ```swift
/// struct YesPresenter: AlertPresenter {
///     let name = "yes"
///     func present(_ presentation: Presentation) async throws -> PresenterChoice {
///         await presentation.didAppear()
///         return .button(0)
///     }
/// }
/// ```
///
/// What every presenter promises:
///
/// * It neutralises control characters, escape sequences, markup and bidirectional overrides,
///   visibly, and never preselects a destructive button.
/// * When its task is cancelled, it takes the alert off the screen and returns or throws soon. The
///   manager waits 2 seconds for that, and leaves out a presenter that takes longer until it
///   returns.
public protocol AlertPresenter: Sendable {
    /// What the alert's `presenters`, the responder's `via` and the audit log call it, 1 to 256
    /// bytes, unique in its manager.
    var name: String { get }

    /// Shows an alert, and returns what the person chose.
    ///
    /// - Throws: anything, if it can't show alerts any more; the alert then waits for another
    ///   presenter, or for a later try of this one.
    func present(_ presentation: Presentation) async throws -> PresenterChoice

    /// Tells that an alert, which is off the screen now, has its result on disk.
    ///
    /// `choseHere` is true where this presenter's own choice became the response.
    func didResolve(_ presentation: Presentation, response: Response, choseHere: Bool) async

    /// Tells that an alert, which is off the screen now, has been snoozed, here or elsewhere, and
    /// that this is on disk.
    ///
    /// It comes again at that time, unless its deadline is before that:
    /// ``AlertRecord/expiresAt`` tells.
    func didSnooze(_ presentation: Presentation, until date: Date) async

    /// Tells that a choice made here could not be stored; the alert will be shown again.
    func didFail(_ presentation: Presentation, error: AlertError) async
}

extension AlertPresenter {
    /// Does nothing.
    public func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {}

    /// Does nothing.
    public func didSnooze(_ presentation: Presentation, until date: Date) async {}

    /// Does nothing.
    public func didFail(_ presentation: Presentation, error: AlertError) async {}
}

/// What a person did with an alert.
public enum PresenterChoice: Sendable, Hashable {
    /// The button at an index, from 0.
    case button(Int)
    /// Not now: the alert comes again after a time, more than zero and at most 100 years, or after
    /// its own snooze time for `nil`.
    case later(Duration?)
    /// Closed without a choice: the end of an alert without buttons, else the same as
    /// `.later(nil)`.
    case close
}

/// What waits behind the alert on the screen: what could be shown now, and what is critical of it.
public struct WaitingAlerts: Sendable, Hashable {
    /// All of them, counted up to 1,000.
    public var count: Int
    /// Those of ``Alert/Priority/critical`` priority, counted up to 1,000.
    public var critical: Int

    /// Creates a count, for a store or a test of your own.
    public init(count: Int = 0, critical: Int = 0) {
        self.count = count
        self.critical = critical
    }
}

/// One appearance of an alert on the screen, as its presenter sees it.
public struct Presentation: Sendable {
    /// The alert, with its buttons and its source.
    public let record: AlertRecord
    /// How many alerts waited behind it when it was taken for the screen, counted up to 1,000.
    public let waitingBehind: Int
    private let clock: any AlertClock
    private let expiry: ClockReading?
    private let appeared: @Sendable () async -> Void
    private let dismissal: @Sendable () async -> Duration?
    private let waitingNow: (@Sendable () async -> WaitingAlerts)?
    private var run: PresenterRun?

    package init(
        record: AlertRecord, waitingBehind: Int, expiry: ClockReading?, clock: any AlertClock,
        appeared: @escaping @Sendable () async -> Void,
        dismissal: @escaping @Sendable () async -> Duration?,
        waiting: (@Sendable () async -> WaitingAlerts)? = nil
    ) {
        self.record = record
        self.waitingBehind = waitingBehind
        self.expiry = expiry
        self.clock = clock
        self.appeared = appeared
        self.dismissal = dismissal
        waitingNow = waiting
    }

    /// The same appearance, as the presenter sees it that a run belongs to.
    func handingOver(to run: PresenterRun) -> Presentation {
        var presentation = self
        presentation.run = run
        return presentation
    }

    /// Hands over what the person chose while the alert stays on the screen, and returns when the
    /// presenter is to take it off.
    ///
    /// Until then the screen shows that the choice has been made: it is being stored, and then
    /// delegates hear of it. What ``AlertPresenter/present(_:)`` returns afterwards says nothing
    /// new. If the choice can't be stored, ``AlertPresenter/didFail(_:error:)`` follows, and the
    /// alert is shown again. A presenter whose screen clears itself need not call this.
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

    /// What waits behind it now.
    public func waiting() async -> WaitingAlerts {
        await waitingNow?() ?? WaitingAlerts(count: waitingBehind)
    }

    /// What is asked.
    public var alert: Alert { record.alert }

    /// Says that the alert is on the screen now: its auto-dismiss timer starts, and
    /// ``AlertManagerDelegate/didPresent(_:)`` is called. Calling it again changes nothing.
    public func didAppear() async { await appeared() }

    /// The time until the deadline, negative once it has passed, or `nil` where there is none.
    public func timeUntilExpiry() -> Duration? {
        expiry.map { clock.now().time(until: $0) }
    }

    /// The time until the alert dismisses itself, at most 10 s while others wait, or `nil` where it
    /// does not, or has not appeared yet.
    public func timeUntilDismissal() async -> Duration? { await dismissal() }
}
