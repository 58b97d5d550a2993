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
