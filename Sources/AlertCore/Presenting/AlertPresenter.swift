import FoundationEssentials

/// Whatever shows an alert to a person: a terminal, a notification, a window.
///
/// A presenter needs one method. It shows the alert, waits for the person, and returns what the
/// person chose; the manager commits the choice before anybody is told that it counts.
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
/// What every presenter promises:
///
/// * It neutralises control characters, escape sequences, markup and bidirectional overrides,
///   visibly, and never preselects a destructive button.
/// * When its task is cancelled, it takes the alert off the screen and returns or throws soon. The
///   manager waits 2 seconds for that, and leaves out a presenter that takes longer until it
///   returns.
public protocol AlertPresenter: Sendable {
    /// What the alert's `presenters`, the responder's `via` and the audit log call it, 1 to 256
    /// bytes, unique in its manager.
    var name: String { get }

    /// Shows an alert, and returns what the person chose.
    ///
    /// - Throws: anything, if it can't show the alert. Other presenters go on with it, and this one
    ///   is asked again after 1 s, or longer after each failure in a row, up to a minute. An alert
    ///   for this presenter alone holds up nothing meanwhile.
    func present(_ presentation: Presentation) async throws -> PresenterChoice

    /// Tells that an alert, which is off the screen now, has its result on disk.
    ///
    /// `choseHere` is true where this presenter's own choice became the response.
    func didResolve(_ presentation: Presentation, response: Response, choseHere: Bool) async

    /// Tells that an alert, which is off the screen now, has been snoozed, here or elsewhere, and
    /// that this is on disk.
    ///
    /// It comes again at that time, unless its deadline is before that:
    /// ``AlertRecord/expiresAt`` tells.
    func didSnooze(_ presentation: Presentation, until date: Date) async

    /// Tells that a choice made here could not be stored; the alert will be shown again.
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
