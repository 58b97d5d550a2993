/// What a person did with an alert.
public enum PresenterChoice: Sendable, Hashable {
    /// The button at an index, from 0, with the values of the alert's fields and a note; a field
    /// without a value has its ``Alert/Field/initialValue``.
    case button(Int, Alert.Input = Alert.Input())
    /// Snooze: the alert returns after this time, more than zero and at most 100 years; `nil` means
    /// the alert's own snooze time.
    case later(Duration?)
    /// Closed without a choice: this dismisses an alert without buttons; otherwise it is the same
    /// as `.later(nil)`.
    case close
}
