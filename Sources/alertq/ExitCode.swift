import AlertQueue

/// The exit codes of the command, with their meanings and causes, which are decided only here.
///
/// The numbers above 63 are those of sysexits.h.
enum ExitCode: Int32, Sendable, CaseIterable {
    /// A button that is not the cancel button was chosen; for other verbs: done.
    case done = 0
    /// Something has waited too long, and nobody shows alerts.
    case unanswered = 1
    /// A hook denies what a coding agent asked, because it failed.
    case denied = 2
    case cancelButton = 10
    case dismissed = 11
    case expired = 12
    case withdrawn = 13
    /// There is nobody to ask.
    case unattended = 14
    case stillWaiting = 15
    case conflict = 16
    case cancelledBySystem = 17
    /// The answer was given too long ago to be used.
    case stale = 18
    case usage = 64
    case badData = 65
    case notFound = 66
    /// A library of the system is missing.
    case unavailable = 69
    case inputOutput = 74
    case busy = 75
    case notPermitted = 77
    /// `run` did not run its command. Other commands that run one use the same; see env(1).
    case notRun = 125

    /// Its meaning: in full for the manual page, and briefly for a list of codes.
    private var words: (full: String, brief: String) {
        switch self {
        case .done:
            ("A button other than the cancel button; for other verbs, done", "a button was chosen")
        case .unanswered:
            (
                "From doctor --strict: something has waited too long, and nobody shows alerts",
                "something has waited too long"
            )
        case .denied:
            ("A hook has failed, which denies the coding agent's request", "a hook has failed")
        case .cancelButton: ("The cancel button", "the cancel button")
        case .dismissed: ("Dismissed: it had no buttons, and left the screen", "dismissed")
        case .expired: ("Expired without a default button", "expired")
        case .withdrawn: ("Withdrawn by its asker", "withdrawn")
        case .unattended: ("There is nobody to ask", "nobody to ask")
        case .stillWaiting: ("Still waiting", "still waiting")
        case .conflict:
            (
                "Already resolved, too late, claimed by somebody else, not what was seen, or the "
                    + "key belongs to another question",
                "already resolved, claimed, or the key belongs to another question"
            )
        case .cancelledBySystem: ("Cancelled by the system", "cancelled by the system")
        case .stale: ("The answer is stale: it was given longer ago than --valid says", "stale")
        case .usage: ("Usage error", "usage")
        case .badData: ("Bad data, or the queue contradicts its audit log", "bad data")
        case .notFound: ("Not found", "not found")
        case .unavailable:
            ("A library of the system is missing, whose package is named", "a missing library")
        case .inputOutput: ("Disk or database error", "disk or database error")
        case .busy: ("Busy; try again", "busy")
        case .notPermitted:
            ("Not permitted, or the alert belongs to another account", "not permitted")
        case .notRun: ("From run: the command was not run", "the command was not run")
        }
    }

    var meaning: String { words.full }

    /// The outcomes of an alert for which no button was chosen.
    static let endsWithoutButton: [ExitCode] = [
        .dismissed, .expired, .withdrawn, .cancelledBySystem,
    ]

    /// Some codes with their meanings, as help has them.
    static func list(_ codes: [ExitCode]) -> String {
        codes.map { "\($0.rawValue) \($0.words.brief)" }.joined(separator: ", ")
    }
}

// MARK: - Causes

extension ExitCode {
    /// The exit code for how an alert ended.
    init(_ response: Response) {
        switch response.outcome {
        case .expired where response.buttonIndex < 0: self = .expired
        case .answered, .expired:
            // Once its texts have been erased, a yes can't be distinguished from a no.
            self =
                switch response.button {
                case nil: .notFound
                case let button?: button.role == .cancel ? .cancelButton : .done
                }
        case .dismissed: self = .dismissed
        case .withdrawn: self = .withdrawn
        case .cancelled: self = .cancelledBySystem
        }
    }

    /// The exit code for an error.
    init(_ error: any Error) {
        switch error {
        case is UsageError: self = .usage
        case let error as CommandError: self = error.code
        case is OutputError: self = .inputOutput
        case let error as AlertError: self.init(error)
        default: self = .inputOutput
        }
    }

    private init(_ error: AlertError) {
        if case .noChoice(let response) = error {
            self.init(response)
        } else {
            self = ExitCode(rawValue: error.cause.rawValue) ?? .inputOutput
        }
    }
}
