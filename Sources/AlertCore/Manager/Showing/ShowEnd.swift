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

    /// Whether a person chose a button, here or elsewhere, and so must have seen the alert.
    var wasSeen: Bool {
        guard case .resolved(let record, _) = self, let response = record.response else {
            return false
        }
        return response.outcome == .answered && response.isClick
    }
}
