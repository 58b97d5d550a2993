import AlertQueue

/// What a hook tells an agent, with a reason for the agent and the person who reads along.
enum HookVerdict: Sendable, Hashable {
    case allow(String)
    case deny(String)
    /// Nobody has decided, and the agent is to ask by itself.
    case prompt(String)

    var reason: String {
        switch self {
        case .allow(let reason), .deny(let reason), .prompt(let reason): reason
        }
    }

    /// The verdict of an alert that has ended; `nil` where nobody decided.
    ///
    /// Only a chosen button allows: neither a default nor a policy does, and no ending without a
    /// button.
    ///
    /// - Parameter needsPerson: Whether the choice of a program does not count as an approval.
    init?(_ record: AlertRecord, needsPerson: Bool) {
        guard let response = record.response, response.outcome != .expired else { return nil }
        let ending = "alert \(record.id) was \(record.ending(.whole))"
        let isAllowed =
            response.outcome == .answered && response.button?.id == HookQuestion.allow
        guard response.outcome == .answered, isAllowed || response.isDenial else {
            self = .deny("not approved: \(ending)")
            return
        }
        let decider: String
        switch response.by {
        case .person: decider = "a person"
        case .program: decider = "a program"
        case .policy, .asker, .system:
            self = .deny("not approved: \(ending), and only a choice counts")
            return
        }
        if isAllowed, needsPerson, response.by != .person {
            self = .deny("not approved: \(ending), by \(decider); only a person may allow it")
        } else {
            self =
                isAllowed
                ? .allow("allowed by \(decider): \(ending)")
                : .deny("denied by \(decider): \(ending)")
        }
    }
}

extension Response {
    fileprivate var isDenial: Bool { button?.id == HookQuestion.deny }
}
