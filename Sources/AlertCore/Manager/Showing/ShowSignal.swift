/// What happens to the alert on the screen.
enum ShowSignal: Sendable {
    /// A person has done something with it; `isOnScreen` tells that the presenter still shows it.
    case chose(PresenterRun, PresenterChoice, isOnScreen: Bool)
    /// It has appeared, which a delegate is to hear.
    case appeared
    /// A presenter can't show it any more, or has taken it off.
    case ended(PresenterRun, because: any Error)
    /// A presenter has been told how it ended.
    case told(PresenterRun)
    /// It was resolved by other means than this screen.
    case resolved(AlertRecord)
    /// It was snoozed by other means than this screen.
    case snoozed
    /// It has been there for as long as it may.
    case dismissTimerFired
    /// The system cancels it.
    case cancel(Resolution.Authority)
    /// The screen is needed for something else, or is lost.
    case leave(reason: String)
    /// The presenters have had their time to clear the screen.
    case graceOver
}
