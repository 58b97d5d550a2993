/// How an alert's appearance on the screen ended.
enum ShowEnd: Sendable {
    /// It has its response; the name is that of the presenter on which a person chose it, if any.
    case resolved(AlertRecord, chosenOn: String?)
    /// It waits again: snoozed, or taken off the screen.
    case waits
    /// Every presenter failed.
    case lost
    /// No choice made here can be stored, because the log contradicts the alert.
    case refused(AlertError)
}
