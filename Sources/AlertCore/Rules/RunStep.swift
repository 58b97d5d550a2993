/// A step of a command that an answer allows to run.
package enum RunStep: Sendable, Hashable, Codable {
    /// It is about to start. A default button that was applied at the deadline allows that only if
    /// `allowsDefault` is set.
    case started(allowsDefault: Bool)
    /// It has ended with an exit status; see exit(3).
    case exited(status: Int32)
    /// A signal has ended it; see signal(7).
    case signalled(Int32)
    /// It was not started, because the same words meant something else by then.
    case changed
    /// The kernel refused to start it; see errno(3).
    case refused(code: Int32)
}

/// Whether a command may start that an answer allows.
package enum RunPermission: Sendable {
    case granted
    /// The answer is no yes, or has been used before.
    case used
    /// It is a yes that may no longer be used, and has been collected for that.
    case unusable(UnusedResponse)
}

extension Response {
    /// Whether it is a yes: somebody chose a button that is not the cancel button, or such a button
    /// was applied as a default and that is enough.
    package func allowsRun(byDefault allowsDefault: Bool) -> Bool {
        guard let button, button.role != .cancel else { return false }
        switch outcome {
        case .answered: return true
        case .expired: return allowsDefault
        case .dismissed, .withdrawn, .cancelled: return false
        }
    }
}
