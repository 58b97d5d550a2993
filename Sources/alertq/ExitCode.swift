import AlertQueue

/// What the command exits with; the numbers above 63 are those of sysexits.h.
package enum ExitCode: Int32, Sendable, CaseIterable {
    /// A button that is not the cancel button was chosen; for other verbs: done.
    case done = 0
    case cancelButton = 10
    case dismissed = 11
    case expired = 12
    case withdrawn = 13
    /// There is nobody to ask.
    case unattended = 14
    case stillWaiting = 15
    case conflict = 16
    case cancelledBySystem = 17
    case usage = 64
    case badData = 65
    case notFound = 66
    case inputOutput = 74
    case busy = 75
    case notPermitted = 77

    /// What the manual says of it.
    package var meaning: String {
        switch self {
        case .done: "A button that is not the cancel button; for other verbs, done"
        case .cancelButton: "The cancel button"
        case .dismissed: "Dismissed: it had no buttons, and left the screen"
        case .expired: "Expired without a default button"
        case .withdrawn: "Withdrawn by whoever asked"
        case .unattended: "There is nobody to ask"
        case .stillWaiting: "Still waiting"
        case .conflict:
            "Already resolved, too late, not what was seen, or the key belongs to another question"
        case .cancelledBySystem: "Cancelled by the system"
        case .usage: "Wrong usage"
        case .badData: "Bad data, or the queue contradicts its audit log"
        case .notFound: "Not found"
        case .inputOutput: "Disk or database error"
        case .busy: "Busy; try again"
        case .notPermitted: "Not permitted, or another account asked the alert"
        }
    }
}

/// What was typed breaks the rules of the command.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

/// A failure that has its own exit code.
package struct CommandError: Error, CustomStringConvertible {
    package let code: ExitCode
    package let description: String

    package init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// A signal asked this process to end, and all that must be undone has been.
package struct Interruption: Error {
    package let signal: Int32
}

extension ExitCode {
    /// The exit code for an error: the one place that decides it.
    package init(_ error: any Error) {
        switch error {
        case is UsageError: self = .usage
        case let error as CommandError: self = error.code
        case is OutputError: self = .inputOutput
        case let error as AlertError: self.init(error)
        default: self = .inputOutput
        }
    }

    private init(_ error: AlertError) {
        switch error {
        case .invalid, .inconsistent: self = .badData
        case .notFound, .keyNotFound, .noSuchButton: self = .notFound
        case .alreadyResolved, .late, .keyConflict, .notAsSeen: self = .conflict
        case .noChoice(let response): self = AskResult(response).code
        case .tooManyPending, .tooManyPendingOfAccount, .busy: self = .busy
        case .incompatible, .storage, .closed: self = .inputOutput
        case .notPermitted, .notYours: self = .notPermitted
        }
    }
}
