/// Hears what alerts do on a manager's screen, and its own alerts on any screen, and may handle a
/// cancel.
///
/// Of an alert that this manager asked and that others show, in any process, it hears
/// ``didPresent(_:)``, ``clicked(_:buttonAt:)`` and ``didDismiss(_:withButtonAt:)``: once each, in
/// this order, as the audit log tells of them. The other methods are for the manager's own screen.
///
/// The methods have UIKit's meanings and come in this order, each after what it tells of is true:
/// ``willPresent(_:)``, ``didPresent(_:)``, ``cancel(_:)`` if the system cancels the alert,
/// ``clicked(_:buttonAt:)``, ``willDismiss(_:withButtonAt:)``, ``didDismiss(_:withButtonAt:)``. The
/// alert is still on the screen, its choice marked, until `willDismiss` has returned. All have
/// defaults that do nothing; that of ``cancel(_:)`` has the cancel button simulated.
///
/// They hold the screen up: return promptly, and start a task for anything longer. A delegate may
/// be isolated to the main actor or to another one:
///
/// ```swift
/// @MainActor final class StatusLine: AlertManagerDelegate {
///     var text = ""
///     func didPresent(_ alert: AlertRecord) { text = alert.alert.title }
///     func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) { text = "" }
/// }
/// ```
///
/// It must not wait for a response, for ``AlertManager/close()`` or for
/// ``AlertManager/stopPresenting()``: these wait for the screen, and the screen for the delegate.
public protocol AlertManagerDelegate: AnyObject, Sendable {
    /// The alert is about to be shown.
    nonisolated(nonsending) func willPresent(_ alert: AlertRecord) async

    /// The alert is on the screen.
    nonisolated(nonsending) func didPresent(_ alert: AlertRecord) async

    /// A person chose a button, or a cancel that nobody handled simulates a click on the cancel
    /// button; the choice is on disk.
    nonisolated(nonsending) func clicked(_ alert: AlertRecord, buttonAt index: Int) async

    /// The system cancels the alert; returns whether that has been handled.
    nonisolated(nonsending) func cancel(_ alert: AlertRecord) async -> CancelHandling

    /// The alert is about to leave the screen; the index is −1 where no button was chosen.
    nonisolated(nonsending) func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) async

    /// The alert has left the screen; the index is −1 where no button was chosen.
    nonisolated(nonsending) func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) async
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
