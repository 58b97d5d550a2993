import FoundationEssentials

/// A way to show alerts to a person: a terminal, a notification, a window.
///
/// A presenter needs one method. It shows the alert, waits for the person, and returns what the
/// person chose; the manager commits the choice before anyone is notified of it.
///
/// ```swift
/// struct YesPresenter: AlertPresenter {
///     let name = "yes"
///     func present(_ presentation: Presentation) async throws -> PresenterChoice {
///         await presentation.didAppear()
///         return .button(0)
///     }
/// }
/// ```
///
/// Every presenter guarantees the following:
///
/// * It neutralises control characters, escape sequences, markup and bidirectional overrides
///   visibly, and never preselects a destructive button.
/// * When its task is cancelled, it takes the alert off the screen and returns or throws soon. The
///   manager waits 2 seconds for that; it does not use a presenter that takes longer until the
///   presenter has returned.
public protocol AlertPresenter: Sendable {
    /// The presenter's name in an alert's `presenters`, the responder's `via` and the audit log: 1
    /// to 256 bytes, unique in its manager.
    var name: String { get }

    /// Shows an alert and returns what the person chose.
    ///
    /// - Throws: Any error if it can't show the alert. Other presenters continue to show it, and
    ///   this one is tried again after 1 s, or longer after each consecutive failure, up to a
    ///   minute. An alert for this presenter alone does not hold up others in the meantime.
    func present(_ presentation: Presentation) async throws -> PresenterChoice

    /// Called when an alert has left the screen and its result is on disk.
    ///
    /// `choseHere` is true if this presenter's own choice became the response.
    func didResolve(_ presentation: Presentation, response: Response, choseHere: Bool) async

    /// Called when an alert has left the screen because it was snoozed, here or elsewhere, and this
    /// is on disk.
    ///
    /// It returns at that time, unless its deadline (``AlertRecord/expiresAt``) is earlier.
    func didSnooze(_ presentation: Presentation, until date: Date) async

    /// Called when a choice made here could not be stored; the alert will be shown again.
    func didFail(_ presentation: Presentation, error: AlertError) async
}

extension AlertPresenter {
    /// Does nothing.
    public func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {}

    /// Does nothing.
    public func didSnooze(_ presentation: Presentation, until date: Date) async {}

    /// Does nothing.
    public func didFail(_ presentation: Presentation, error: AlertError) async {}
}
