import AlertQueue

/// Why a tool could not do what an agent asked for.
///
/// It is never to be mistaken for an answer: whatever the reason, nobody has said yes or no.
struct AgentFailure: Error {
    /// The kinds of reasons, as programs read them.
    enum Reason: String, Sendable, CaseIterable {
        /// An argument breaks a rule.
        case invalid
        /// The agent has asked no such alert.
        case notFound = "not_found"
        /// The key belongs to another question.
        case conflict
        /// Too many alerts wait.
        case limit
        /// The queue contradicts its log.
        case untrusted
        /// The queue can't be read or written.
        case unreachable
    }

    let reason: Reason
    let message: String

    init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    /// The failure that an error means.
    init(_ error: any Error) {
        switch error {
        case let failure as AgentFailure: self = failure
        case let error as UsageError: self.init(.invalid, "\(error)")
        case let error as AlertError: self.init(error)
        default: self.init(.unreachable, "\(error)")
        }
    }

    private init(_ error: AlertError) {
        let reason: Reason =
            switch error {
            case .invalid: .invalid
            case .notFound, .keyNotFound, .notYours, .noSuchButton: .notFound
            case .keyConflict, .alreadyResolved, .late, .notAsSeen, .noChoice: .conflict
            case .tooManyPending, .tooManyPendingOfAccount: .limit
            case .inconsistent: .untrusted
            case .busy, .incompatible, .backup, .storage, .notPermitted, .closed: .unreachable
            }
        self.init(reason, "\(error)")
    }

    var result: ToolResult {
        let sentence =
            switch reason {
            case .invalid: "Nothing was done: \(message). Correct the call, and try again."
            case .notFound: "Nothing was done: \(message)."
            case .conflict: "Nothing was asked: \(message)."
            case .limit: "Nothing was stored: \(message)."
            case .untrusted:
                "The queue's record can't be trusted: \(message). This is not an answer: treat it "
                    + "neither as a yes nor as a no, and tell the user."
            case .unreachable:
                "The queue can't be reached: \(message). This is not an answer: it is not known "
                    + "what anybody thinks. An alert that was stored before stays. Try the same "
                    + "call again later, or tell the user."
            }
        return ToolResult(
            summary: sentence,
            object: .object([("state", .string("failed")), ("reason", .string(reason.rawValue))]),
            isError: true)
    }
}
