/// An observer of the alerts on a manager's screen, and of its own alerts on any screen, which may
/// handle a cancel.
///
/// For an alert that this manager asked and that another one shows, in any process, these methods
/// are called: ``didPresent(_:)``, ``clicked(_:buttonAt:)`` and ``didDismiss(_:withButtonAt:)``,
/// once each, in this order, as the audit log records them. The other methods are for the manager's
/// own screen.
///
/// The methods have UIKit's meanings and come in this order, each once its event is a fact:
/// ``willPresent(_:)``, ``didPresent(_:)``, ``cancel(_:)`` if the system cancels the alert,
/// ``clicked(_:buttonAt:)``, ``willDismiss(_:withButtonAt:)``, ``didDismiss(_:withButtonAt:)``. The
/// alert is still on the screen, its choice marked, until `willDismiss` has returned. All have
/// defaults that do nothing, except that the default of ``cancel(_:)`` simulates the cancel button.
///
/// The screen waits for these methods, one after another, for up to five seconds each; after that
/// the queue goes on, ``BackgroundError/delegate(_:_:silentFor:)`` is reported, and the other methods
/// are called when the silent one returns. A method may wait for what waits for the screen, such as
/// ``AlertManager/ask(_:replacing:delegate:)`` or ``AlertManager/close()``: that counts as its return, and the
/// next ones are called while it is suspended. A delegate may be isolated to the main actor or to
/// another actor:
///
/// ```swift
/// @MainActor final class StatusLine: AlertManagerDelegate {
///     var text = ""
///     func didPresent(_ alert: AlertRecord) { text = alert.alert.title }
///     func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) { text = "" }
/// }
/// ```
public protocol AlertManagerDelegate: AnyObject, Sendable {
    /// Called when the alert is about to be shown.
    nonisolated(nonsending) func willPresent(_ alert: AlertRecord) async

    /// Called when the alert is on the screen.
    nonisolated(nonsending) func didPresent(_ alert: AlertRecord) async

    /// Called when a person has chosen a button, or when an unhandled cancel simulates a click on
    /// the cancel button; the choice is on disk.
    nonisolated(nonsending) func clicked(_ alert: AlertRecord, buttonAt index: Int) async

    /// Called when the system cancels the alert; returns whether the delegate has handled that.
    nonisolated(nonsending) func cancel(_ alert: AlertRecord) async -> CancelHandling

    /// Called when the alert is about to leave the screen; the index is −1 if no button was chosen.
    nonisolated(nonsending) func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) async

    /// Called when the alert has left the screen; the index is −1 if no button was chosen.
    nonisolated(nonsending) func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) async
}

extension AlertManagerDelegate {
    /// Does nothing.
    public func willPresent(_ alert: AlertRecord) {}
    /// Does nothing.
    public func didPresent(_ alert: AlertRecord) {}
    /// Does nothing.
    public func clicked(_ alert: AlertRecord, buttonAt index: Int) {}
    /// Returns ``CancelHandling/simulateCancelButton``.
    public func cancel(_ alert: AlertRecord) -> CancelHandling { .simulateCancelButton }
    /// Does nothing.
    public func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) {}
    /// Does nothing.
    public func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) {}
}
