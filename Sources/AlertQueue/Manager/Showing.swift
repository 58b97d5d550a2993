/// What happens to the alert on the screen.
enum ShowingSignal: Sendable {
    /// A person has done something with it; `isOnScreen` tells that the presenter still shows it.
    case chose(presenter: String, PresenterChoice, isOnScreen: Bool)
    /// It has appeared, which a delegate is to hear.
    case appeared
    /// A presenter can't show it any more, or has taken it off.
    case ended(presenter: String, because: any Error)
    /// A presenter has been told how it ended.
    case told(presenter: String)
    /// It was resolved by other means than this screen.
    case resolved(AlertRecord)
    /// It was snoozed by other means than this screen.
    case snoozed
    case dismissTimerFired
    /// The system cancels it.
    case cancel(Resolution.Authority)
    /// The screen is needed for something else, or is lost.
    case leave(reason: String)
    /// The presenters have had their time to clear the screen.
    case graceOver
}

/// The alert on the screen of this manager.
struct Showing {
    var record: AlertRecord
    let presentation: Presentation
    let signals: AsyncStream<ShowingSignal>.Continuation
    var isOnScreen = false
    /// Whether a delegate has heard that it is on the screen.
    var isAppearanceTold = false
    /// Whether it is being taken off the screen: what appears only now has not been presented.
    var isLeaving = false
    /// Whether the delegate is being asked about a cancel.
    var isCancelling = false
    /// When it dismisses itself.
    var dismissal: ClockReading?
    /// When it does so if others wait.
    var dismissalForOthers: ClockReading?
    /// Its record once it has been snoozed, here or elsewhere.
    var snoozed: AlertRecord?
    /// Its record, if it got its response while it was being taken off the screen.
    var late: AlertRecord?
    /// What waits behind it, as it was found last.
    var waiting: WaitingAlerts
    /// The presenters whose tasks have not ended.
    var running: [String: (run: PresenterRun, task: Task<Void, Never>)] = [:]
    /// Has it dismiss itself.
    var timer: Task<Void, Never>?

    var id: Alert.ID { record.id }
}

/// How an appearance on the screen ended.
enum ShowingEnd {
    /// It has its response; the name is that of the presenter where a person chose it, if any.
    case resolved(AlertRecord, chosenOn: String?)
    /// It waits again: snoozed, or taken off the screen.
    case waits
    /// Every presenter failed.
    case lost
}
