/// What happens to an alert that the system cancels.
public enum CancelHandling: Sendable {
    /// The delegate has handled the cancel: no action and no handler runs.
    case handled
    /// The cancel button's action runs, as if it had been chosen.
    case simulateCancelButton

    package init(isHandled: Bool) { self = isHandled ? .handled : .simulateCancelButton }
}
