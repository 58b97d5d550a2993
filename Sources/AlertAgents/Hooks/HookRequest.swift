import AlertQueue
import TextFormats

/// What a coding agent sends to its hooks.
///
/// Claude Code and Codex use the same names. The formats that this follows, and what the agents
/// themselves were seen to send:
///
/// - Claude Code 2.1.331, “Hooks reference”: https://code.claude.com/docs/en/hooks.
/// - Codex 0.163.0, “Hooks”: https://developers.openai.com/codex/hooks, and
///   `codex-rs/hooks/src/events` of https://github.com/openai/codex.
///
/// Members that are not known are ignored, because the formats grow; known ones must be as they are
/// documented.
enum HookMessage: Sendable {
    case request(HookRequest)
    case progress(HookProgress)

    /// Reads a message.
    ///
    /// - Throws: ``UnreadableText``, which says what is wrong.
    init(_ bytes: [UInt8]) throws(UnreadableText) {
        let members = try HookMembers(bytes)
        let name = try members.required("hook_event_name")
        if let event = HookRequest.Event(rawValue: name) {
            self = .request(try HookRequest(event, members))
        } else if let event = HookProgress.Event(rawValue: name) {
            self = .progress(try HookProgress(event, members))
        } else {
            let known =
                HookRequest.Event.allCases.map(\.rawValue)
                + HookProgress.Event.allCases.map(\.rawValue)
            throw UnreadableText(
                "its event is “\(name)”; this hook takes \(known.joined(separator: ", "))")
        }
    }

    /// The event that a text names which can't be read as a message, so that its reply has the form
    /// that the agent expects.
    static func event(in bytes: [UInt8]) -> String? {
        let name = "hook_event_name"
        if let message = try? JSONValue.tolerant(parsing: bytes).value, message.members != nil {
            return message.onlyMember(name)?.string
        }
        // What is part of a tool's input can't be told from the event here.
        let limit = 1 << 20
        let parts = bytes.count > limit ? [bytes.prefix(limit), bytes.suffix(limit)] : [bytes[...]]
        let names = Set(
            parts.flatMap { part in
                String(decoding: part, as: UTF8.self)
                    .matches(of: /"hook_event_name"\s*:\s*"([A-Za-z]+)"/).map { String($0.1) }
            })
        return names.count == 1 ? names.first : nil
    }
}

/// Who asks: a session of an agent, in one turn, itself or through a subagent.
struct HookOrigin: Sendable, Hashable {
    let session: String
    /// The prompt of a person to which the agent responds; `nil` where the agent doesn't tell.
    let turn: String?
    /// The subagent's id; `nil` for the session itself.
    let subagent: String?

    fileprivate init(_ members: HookMembers) throws(UnreadableText) {
        session = try members.required("session_id")
        let (prompt, turn) = (try members.name("prompt_id"), try members.name("turn_id"))
        self.turn = prompt ?? turn
        subagent = try members.name("agent_id")
    }
}

/// A request for permission.
struct HookRequest: Sendable {
    /// When the agent asks.
    enum Event: String, Sendable, CaseIterable {
        /// Before each use of a tool, whether or not it needs permission.
        case preToolUse = "PreToolUse"
        /// When the agent is about to ask for permission itself.
        case permissionRequest = "PermissionRequest"
    }

    let event: Event
    let origin: HookOrigin
    /// Where the tool would run; `nil` where the agent doesn't tell.
    let directory: String?
    let tool: String
    let input: JSONValue
    /// The id of this use of the tool; requests for permission have none.
    let toolUse: String?
    /// The type of the subagent that asks; `nil` for the session itself.
    let subagentType: String?
    /// How the agent treats uses of tools that need permission.
    let mode: String?
    /// Sets it apart from others that look the same; `nil` if none does.
    let digest: String?

    fileprivate init(_ event: Event, _ members: HookMembers) throws(UnreadableText) {
        self.event = event
        origin = try HookOrigin(members)
        directory = try members.text("cwd")
        tool = try members.required("tool_name")
        input = try members.toolInput()
        toolUse = try members.name("tool_use_id")
        subagentType = try members.name("agent_type")
        mode = try members.name("permission_mode")
        digest = members.digest
    }

    /// The command that a shell will run, or that is a patch to apply.
    var command: String? { input.onlyMember("command")?.string }

    /// Which use of a tool it is about, so that the tool's use can be recognised.
    var use: String { Self.use(of: tool, with: input) }

    /// Which use of a tool is meant: its name and input, but for the model's reason, which Codex adds
    /// in a request for permission.
    fileprivate static func use(of tool: String, with input: JSONValue) -> String {
        let what = try? input.without(["description"]).sorted.text()
        return Question.digest(of: [tool, what ?? ""])
    }
}

/// An event that shows that an agent has moved on, whether or not its requests were answered here.
struct HookProgress: Sendable {
    enum Event: String, Sendable, CaseIterable {
        case postToolUse = "PostToolUse"
        case postToolUseFailure = "PostToolUseFailure"
        case userPromptSubmit = "UserPromptSubmit"
        case interrupt = "Interrupt"
        case stop = "Stop"
        case subagentStop = "SubagentStop"
        case sessionEnd = "SessionEnd"
    }

    /// Whether an event is one of these.
    static func isEvent(_ name: String?) -> Bool { name.flatMap(Event.init) != nil }

    private let event: Event
    private let origin: HookOrigin
    private let use: String?
    private let toolUse: String?

    fileprivate init(_ event: Event, _ members: HookMembers) throws(UnreadableText) {
        self.event = event
        origin = try HookOrigin(members)
        switch event {
        case .postToolUse, .postToolUseFailure:
            use = HookRequest.use(
                of: try members.required("tool_name"), with: try members.toolInput())
            toolUse = try members.name("tool_use_id")
        default: (use, toolUse) = (nil, nil)
        }
    }

    /// Whether the agent no longer asks what an alert of this account asks.
    func ends(_ record: AlertRecord) -> Bool { record.isOwn && ends(record.alert.userInfo) }

    /// Whether the agent no longer asks what an alert asks.
    ///
    /// - Parameter info: The alert's ``HookQuestion/info``.
    func ends(_ info: [String: String]) -> Bool {
        func isSame(_ name: String, _ value: String?) -> Bool {
            info[name].isIdentical(to: value)
        }
        guard isSame("session", origin.session) else { return false }
        let isItself = info["subagent"] == nil && origin.subagent == nil
        switch event {
        case .postToolUse, .postToolUseFailure:
            return isSame("turn", origin.turn) && isSame("subagent", origin.subagent)
                && isSame("use", use) && (info["tool_use"] == nil || isSame("tool_use", toolUse))
        // A subagent in the background goes on, whatever the session does.
        case .userPromptSubmit:
            return isItself && (origin.turn == nil || !isSame("turn", origin.turn))
        case .interrupt, .stop: return isItself
        case .subagentStop: return origin.subagent != nil && isSame("subagent", origin.subagent)
        case .sessionEnd: return true
        }
    }

    /// Why the question is no longer asked, for the log.
    var reason: String {
        let what =
            switch event {
            case .postToolUse: "it has used the tool"
            case .postToolUseFailure: "it has tried to use the tool"
            case .userPromptSubmit: "it has another prompt"
            case .interrupt: "it was interrupted"
            case .stop: "its turn has ended"
            case .subagentStop: "its subagent has ended"
            case .sessionEnd: "its session has ended"
            }
        return "the agent moved on: " + what
    }
}

// MARK: - Members

/// The members of a message.
private struct HookMembers {
    /// How long a name may be, in bytes.
    private static let maximumName = 128

    private let object: JSONValue
    /// The digest of the message, if another one could have the same members.
    let digest: String?

    init(_ bytes: [UInt8]) throws(UnreadableText) {
        guard bytes.count <= HookInput.maximumSize else {
            throw UnreadableText("it has more than \(HookInput.maximumSize) bytes")
        }
        do throws(JSONError) {
            let (value, isExact) = try JSONValue.tolerant(parsing: bytes)
            object = value
            digest = isExact ? nil : Hex.text(SHA256.hash(of: bytes))
        } catch {
            throw UnreadableText("\(error)")
        }
        guard object.members != nil else { throw UnreadableText("it is not an object") }
    }

    /// A member; `nil` if it is absent or null.
    ///
    /// Readers differ in which of two members with one name they take.
    private func value(_ name: String) throws(UnreadableText) -> JSONValue? {
        guard object.count(of: name) < 2 else {
            throw UnreadableText("it has two members “\(name)”")
        }
        return object[name]
    }

    /// A text; `nil` if it is absent or empty.
    func text(_ name: String) throws(UnreadableText) -> String? {
        guard let member = try value(name) else { return nil }
        guard let text = member.string else { throw UnreadableText("“\(name)” is not a string") }
        return text.isEmpty ? nil : text
    }

    func name(_ name: String) throws(UnreadableText) -> String? {
        guard let text = try text(name) else { return nil }
        guard text.utf8.count <= Self.maximumName else {
            throw UnreadableText("“\(name)” has more than \(Self.maximumName) bytes")
        }
        return text
    }

    func required(_ name: String) throws(UnreadableText) -> String {
        guard let text = try self.name(name) else {
            throw UnreadableText("“\(name)” is missing or empty")
        }
        return text
    }

    func toolInput() throws(UnreadableText) -> JSONValue {
        guard let input = try value("tool_input") else {
            throw UnreadableText("“tool_input” is missing")
        }
        return input
    }
}

extension JSONValue {
    /// How many members have a name.
    fileprivate func count(of name: String) -> Int {
        members?.count { $0.key.isIdentical(to: name) } ?? 0
    }

    /// The value of a member whose name no other one has.
    func onlyMember(_ name: String) -> JSONValue? { count(of: name) == 1 ? self[name] : nil }
}
