/// The kind of an argument, which decides what a shell can offer for it.
enum ArgumentKind: Sendable, Hashable {
    /// Anything: there is nothing to offer.
    case text
    case words([String])
    case file
    case program
    /// A presenter: one of some words, or `command:` and a program.
    case presenter
    case waitingAlert
    /// An alert whose response has not been collected, or that still waits.
    case uncollectedAlert
    /// A button that is being added: there is nothing to offer, but see ``addedButton``.
    case newButton
    /// A button of the alert that is named before it.
    case button
    /// A button that was chosen lately.
    case chosenButton
    /// A field of the alert that is named, “=” and its value.
    case fieldValue
    /// A button that the same command line adds.
    case addedButton
    case key
    case source
    /// A user who has decided on an alert.
    case user
    /// A presenter or verb through which a user has decided.
    case via
    case verb
}
