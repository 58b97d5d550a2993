/// An event of the alert on the screen.
enum ShowSignal: Sendable {
    /// A person has made a choice; `isOnScreen` says whether the presenter still shows the alert.
    case chose(PresenterRun, PresenterChoice, isOnScreen: Bool)
    /// It has appeared; a delegate is to be notified.
    case appeared
    /// A presenter can no longer show it, or has taken it off.
    case ended(PresenterRun, because: any Error)
    /// A presenter has been notified of how it ended.
    case told(PresenterRun)
    /// It was resolved by other means than this screen.
    case resolved(AlertRecord)
    /// It was snoozed by other means than this screen.
    case snoozed
    /// Its time on the screen is over.
    case dismissTimerFired
    /// The system cancels it.
    case cancel(Resolution.Authority)
    /// The screen is needed for something else, or is lost.
    case leave(reason: String)
    /// It has not appeared in time, and holds up other screens.
    case unseen
    /// The presenters have had their time to clear the screen.
    case graceOver

    /// The signals that may be sent again before they are read: once is enough.
    enum Repetition {
        case resolved
        case snoozed
        case dismissTimerFired
        case leave
        case unseen
    }

    var repetition: Repetition? {
        switch self {
        case .resolved: .resolved
        case .snoozed: .snoozed
        case .dismissTimerFired: .dismissTimerFired
        case .leave: .leave
        case .unseen: .unseen
        case .chose, .appeared, .ended, .told, .cancel, .graceOver: nil
        }
    }
}
