import AlertQueue
import TextFormats

/// What an agent is told about its alerts: the alert's JSON, and what it means in words.
///
/// A person's yes, a person's no, and the absence of an answer never read alike.
enum AgentResult {
    /// The question still waits.
    static func waiting(
        _ record: AlertRecord, isAttended: Bool, wait: Duration
    ) -> ToolResult {
        let advice =
            isAttended
            ? "" : " No screen shows alerts now; the user can run `alertq present`."
        let what =
            record.alert.buttons.isEmpty
            ? "Notice \(record.id) waits until it has been shown."
            : "Nobody has answered yet: alert \(record.id) waits."
        return ToolResult(
            summary: "\(what) Call collect with the id \(record.id) to go on waiting, for up to "
                + "\(LengthText.text(wait)) each time; this is neither a yes nor a no.\(advice)",
            object: .object([
                ("state", .string("waiting")), ("id", .integer(record.id)),
                ("key", .optional(record.alert.key)),
            ]))
    }

    /// A notice is stored.
    static func stored(_ record: AlertRecord) -> ToolResult {
        ToolResult(
            summary: "Notice \(record.id) is stored, and will be shown. It needs no answer: go on.",
            object: AlertJSON.value(record))
    }

    /// The alert has its response.
    static func resolved(_ record: AlertRecord) -> ToolResult {
        guard record.response?.isStale != true else {
            return AgentFailure(AlertError.stale(record)).result
        }
        var sentences = [meaning(of: record)]
        if record.response?.collectedAt != nil, record.alert.key != nil {
            sentences.append("This response was collected before.")
        }
        sentences.append("Alert \(record.id): \(record.ending(.utc)).")
        if let values = record.response?.input.text(for: record.alert.fields) {
            sentences.append("Values: \(values).")
        }
        if let note = record.response?.note {
            let isReason = record.response?.outcome == .withdrawn
            sentences.append((isReason ? "Why it was withdrawn: " : "Note: ") + note)
        }
        return ToolResult(
            summary: sentences.joined(separator: " "), object: AlertJSON.value(record))
    }

    /// Alerts of the agent, as a list.
    static func list(waiting: [AlertRecord], answers: [AlertRecord], limit: Int) -> ToolResult {
        func count(_ records: [AlertRecord]) -> String {
            records.count < limit ? "\(records.count)" : "\(limit) or more"
        }
        let advice =
            waiting.isEmpty && answers.isEmpty
            ? "" : " Call collect with an id to get the answer, or to wait for it."
        return ToolResult(
            summary: "Waiting: \(count(waiting)). Ended and not collected: \(count(answers))."
                + advice,
            object: .object([
                ("alerts", .array((waiting + answers).map(AlertJSON.value)))
            ]))
    }

    /// What a response means for what the agent does next.
    private static func meaning(of record: AlertRecord) -> String {
        guard let response = record.response else { return "" }
        let choice = response.button.map { "“\($0.title)” (\($0.id))" }
        let isNo = response.button?.role == .cancel
        switch response.outcome {
        case .answered:
            guard let choice else {
                return "It was answered, but its texts have been erased: ask again."
            }
            switch response.by {
            case .person:
                return isNo
                    ? "Denied by a person, with \(choice): don't go on."
                    : "A person chose \(choice)."
            default:
                return "A \(response.by.rawValue), not a person, chose \(choice)"
                    + (isNo ? ", which means no: don't go on." : ". \(askAgain)")
            }
        case .expired: return expiry(of: record, choice, isNo: isNo)
        case .withdrawn:
            return "It was withdrawn before anybody answered. That allows nothing. \(askAgain)"
        case .cancelled:
            return "The system cancelled it before anybody answered. That allows nothing. "
                + askAgain
        case .dismissed: return "The notice has been shown, and has left the screen."
        }
    }

    private static func expiry(
        of record: AlertRecord, _ choice: String?, isNo: Bool
    ) -> String {
        guard !record.alert.buttons.isEmpty else { return "The notice expired." }
        let nobody =
            record.hasExpiredUnseen
            ? "Nobody answered in time: it expired without having been shown."
            : "Nobody answered in time: it expired."
        guard let choice else { return nobody + " That allows nothing. \(askAgain)" }
        return nobody + " Its default \(choice) was applied by policy, not by a person"
            + (isNo ? "; it means no: don't go on." : ". \(askAgain)")
    }

    private static let askAgain = "Ask again, if a person must still decide."
}

extension ToolReply {
    /// The same reply to a call of which some arguments were ignored, which it names.
    func ignoring(_ names: [String]) -> ToolReply {
        guard !names.isEmpty else { return self }
        let sentence = ArgumentForms.sentence(names)
        let content: Content
        switch self.content {
        case .result(let result):
            let object = result.object.members ?? []
            content = .result(
                ToolResult(
                    summary: result.summary + sentence,
                    object: .object(object + [("ignored", .array(names.map(JSONValue.string)))]),
                    isError: result.isError))
        case .task(var task):
            task.message += sentence
            content = .task(task)
        case .done: content = .done
        }
        return ToolReply(content: content, finish: finish)
    }
}

extension AgentResult {
    /// The task that an alert is.
    ///
    /// Its id is the alert's with the digest of what was asked. The digest has a random salt, so
    /// that nobody can guess it, and needs no place of its own: a task outlives the server.
    static func task(_ record: AlertRecord) -> TaskState? {
        guard let seen = record.seen else { return nil }
        let response = record.response
        let result = response.map { _ in resolved(record) }
        let status: TaskState.Status =
            switch response?.outcome {
            case nil: .working
            case .withdrawn?: .cancelled
            default: result.map(TaskState.Status.completed) ?? .working
            }
        return TaskState(
            id: "\(record.id)-\(seen)", status: status,
            message: result?.summary
                ?? "Alert \(record.id) waits for an answer; collect gets it, too, by this id.",
            createdAt: record.askedAt,
            updatedAt: response?.resolvedAt ?? record.presentedAt ?? record.askedAt,
            lifetime: record.expiresAt.map { end in
                // Long enough for a client to see that nobody answered.
                .milliseconds(
                    Timestamp.milliseconds(end) - Timestamp.milliseconds(record.askedAt))
                    + .seconds(60)
            })
    }

    /// The alert that a task's id names, and its digest; `nil` for any other text.
    static func alert(ofTask id: String) -> (id: Alert.ID, seen: String)? {
        let parts = id.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let number = Alert.ID(parts[0]), number > 0,
            String(number) == parts[0]
        else { return nil }
        return (number, String(parts[1]))
    }
}

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
        /// The answer was given too long ago to be used.
        case stale
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
        case let error as UnreadableText: self.init(.invalid, "\(error)")
        case let error as AlertError: self.init(error)
        default: self.init(.unreachable, "\(error)")
        }
    }

    private init(_ error: AlertError) {
        let reason: Reason =
            switch error {
            case .invalid: .invalid
            case .notFound, .keyNotFound, .unknownCursor, .notYours, .noSuchButton: .notFound
            case .keyConflict, .alreadyResolved, .late, .notAsSeen, .claimed, .noChoice: .conflict
            case .stale: .stale
            case .tooManyPending, .tooManyPendingOfPrincipal: .limit
            case .inconsistent: .untrusted
            case .busy, .unreachable, .cancelled, .incompatible, .missing, .missingLibrary, .backup,
                .storage, .damaged, .notPermitted, .detached, .closed:
                .unreachable
            }
        self.init(reason, "\(error)")
    }

    var result: ToolResult {
        let sentence =
            switch reason {
            case .invalid: "Nothing was done: \(message). Correct the call, and try again."
            case .notFound: "Nothing was done: \(message)."
            case .conflict: "Nothing was asked: \(message)."
            case .stale:
                "That allows nothing: \(message). Ask again, if a person must still decide."
            case .limit:
                "Nothing was stored: \(message). Withdraw what no longer matters, or try again "
                    + "later."
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
