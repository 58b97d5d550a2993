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

/// How an alert's appearance on the screen ended.
enum ShowEnd: Sendable {
    /// It has its response; the name is that of the presenter where a person chose it, if any.
    case resolved(AlertRecord, chosenOn: String?)
    /// It waits again: snoozed, or taken off the screen.
    case waits
    /// Every presenter failed.
    case lost
    /// Nothing that is chosen here can be stored, because the log contradicts the alert.
    case refused(AlertError)
}
