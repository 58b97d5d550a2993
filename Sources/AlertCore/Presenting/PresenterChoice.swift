/// What a person did with an alert.
public enum PresenterChoice: Sendable, Hashable {
    /// The button at an index, from 0.
    case button(Int)
    /// Snooze: the alert returns after this time, more than zero and at most 100 years; `nil` means
    /// the alert's own snooze time.
    case later(Duration?)
    /// Closed without a choice: this dismisses an alert without buttons; otherwise it is the same
    /// as `.later(nil)`.
    case close
}
