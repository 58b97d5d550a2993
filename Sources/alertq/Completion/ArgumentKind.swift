/// What an argument stands for, and so what a shell can offer in its place.
package enum ArgumentKind: Sendable, Hashable {
    /// Anything: there is nothing to offer.
    case text
    case words([String])
    case file
    case program
    case waitingAlert
    /// An alert whose response nobody has taken, or that still waits.
    case uncollectedAlert
    /// A button of the alert that is named before it.
    case button
    /// A button that the same command line adds.
    case addedButton
    case key
    case source
    /// Who has decided on an alert.
    case user
    /// Through what somebody has.
    case via
    case verb

    /// What the placeholder of an option or an operand stands for; brackets and dots don't matter.
    package init(placeholder: String) {
        let name = placeholder.filter { $0.isLetter || $0 == "=" }
        switch name {
        case "PATH", "FILE": self = .file
        case "PROGRAM": self = .program
        case "ID": self = .waitingAlert
        case "BUTTON": self = .button
        case "KEY": self = .key
        case "NAME": self = .source
        case "VERB": self = .verb
        case "SHELL": self = .words(Shell.allCases.map(\.rawValue))
        default: self = .text
        }
    }
}
