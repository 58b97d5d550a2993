/// Hears what the alerts of a manager do on the screen, and may handle a cancel.
///
/// The methods have UIKit's meanings and come in this order, each after what it tells of is true:
/// ``willPresent(_:)``, ``didPresent(_:)``, ``clicked(_:buttonAt:)`` or ``cancel(_:)``,
/// ``willDismiss(_:withButtonAt:)``, ``didDismiss(_:withButtonAt:)``. They are called on the
/// manager's queue and hold it up: return promptly, and start a task for anything longer. All have
/// defaults that do nothing; that of ``cancel(_:)`` has the cancel button simulated.
public protocol AlertManagerDelegate: AnyObject, Sendable {
    /// The alert is about to be shown.
    func willPresent(_ alert: AlertRecord)

    /// The alert is on the screen.
    func didPresent(_ alert: AlertRecord)

    /// A person or a program chose a button, and the choice is on disk.
    func clicked(_ alert: AlertRecord, buttonAt index: Int)

    /// The system cancels the alert; returns whether that has been handled.
    func cancel(_ alert: AlertRecord) -> CancelHandling

    /// The alert is about to leave the screen; the index is −1 where no button was chosen.
    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int)

    /// The alert has left the screen; the index is −1 where no button was chosen.
    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int)
}

/// What becomes of an alert that the system cancels.
public enum CancelHandling: Sendable {
    /// The delegate has done what the cancel needs: no action and no handler runs.
    case handled
    /// The cancel button's action runs, as if it had been chosen.
    case simulateCancelButton
}

extension AlertManagerDelegate {
    /// Does nothing.
    public func willPresent(_ alert: AlertRecord) {}
    /// Does nothing.
    public func didPresent(_ alert: AlertRecord) {}
    /// Does nothing.
    public func clicked(_ alert: AlertRecord, buttonAt index: Int) {}
    /// Has the cancel button simulated.
    public func cancel(_ alert: AlertRecord) -> CancelHandling { .simulateCancelButton }
    /// Does nothing.
    public func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) {}
    /// Does nothing.
    public func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) {}
}
