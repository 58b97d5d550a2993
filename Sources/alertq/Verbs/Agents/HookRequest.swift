import AlertQueue

/// A request for permission, as a coding agent sends it to its hooks.
///
/// Claude Code and Codex use the same names. The formats that this follows:
///
/// - Claude Code 2.1.240, “Hooks reference”, `PreToolUse` and `PermissionRequest`:
///   https://code.claude.com/docs/en/hooks, as of 2026-08-22.
/// - Codex, “Hooks”, `PreToolUse` and `PermissionRequest`:
///   https://developers.openai.com/codex/hooks, which has no version, and
///   `codex-rs/hooks/src/events` of https://github.com/openai/codex at commit 0082977.
///
/// Members that are not known are ignored, because the formats grow; known ones must be as they are
/// documented.
struct HookRequest: Sendable {
    /// When the agent asks.
    enum Event: String, Sendable, CaseIterable {
        /// Before each use of a tool, whether or not it needs permission.
        case preToolUse = "PreToolUse"
        /// When the agent is about to ask for permission itself.
        case permissionRequest = "PermissionRequest"
    }

    /// How much one request may hold, in bytes.
    static let maximumSize = 1 << 20
    /// How long a name may be, in bytes.
    private static let maximumName = 128

    let event: Event
    let session: String
    let directory: String
    let tool: String
    let input: JSONValue
    /// The id of this use of the tool; requests for permission have none.
    let toolUse: String?
    /// The type of the subagent that asks; `nil` for the session itself.
    let subagent: String?
    /// How the agent treats uses of tools that need permission.
    let mode: String?

    /// Reads a request.
    ///
    /// - Throws: ``CommandError``, which says what is wrong.
    init(_ bytes: [UInt8]) throws(CommandError) {
        guard bytes.count <= Self.maximumSize else {
            throw CommandError(.badData, "it has more than \(Self.maximumSize) bytes")
        }
        let value = try Self.object(bytes)
        let name = try Self.name("hook_event_name", of: value)
        guard let event = Event(rawValue: name) else {
            let known = Event.allCases.map(\.rawValue).joined(separator: " and ")
            throw CommandError(
                .badData, "its event is “\(name)”; this hook answers \(known)")
        }
        guard let input = value["tool_input"] else {
            throw CommandError(.badData, "“tool_input” is missing")
        }
        self.event = event
        self.input = input
        session = try Self.name("session_id", of: value)
        directory = try Self.required("cwd", of: value)
        tool = try Self.name("tool_name", of: value)
        toolUse = try Self.optionalName("tool_use_id", of: value)
        subagent = try Self.optionalName("agent_type", of: value)
        mode = try Self.optionalName("permission_mode", of: value)
    }

    /// The event that a text names which can't be read as a request, so that its denial has the
    /// form that the agent expects.
    static func event(in bytes: [UInt8]) -> Event? {
        let text = String(decoding: bytes.prefix(maximumSize), as: UTF8.self)
        guard let match = text.firstMatch(of: /"hook_event_name"\s*:\s*"([A-Za-z]+)"/) else {
            return nil
        }
        return Event(rawValue: String(match.1))
    }

    /// The command that a shell will run, or that is a patch to apply.
    var command: String? { input["command"]?.string }

    /// Whether the agent asks for permission itself if a hook says nothing.
    ///
    /// In other modes it denies by itself, or allows: its silence could read like an approval.
    var isPromptedOtherwise: Bool {
        event == .permissionRequest && ["default", "acceptEdits", "plan"].contains(mode)
    }
}

// MARK: - Members

extension HookRequest {
    private static func object(_ bytes: [UInt8]) throws(CommandError) -> JSONValue {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw CommandError(.badData, "\(error)")
        }
        guard case .object = value else { throw CommandError(.badData, "it is not an object") }
        return value
    }

    private static func text(
        _ name: String, of value: JSONValue
    ) throws(CommandError) -> String? {
        guard let member = value[name] else { return nil }
        guard let text = member.string else {
            throw CommandError(.badData, "“\(name)” is not a string")
        }
        guard !text.isEmpty else { throw CommandError(.badData, "“\(name)” is empty") }
        return text
    }

    private static func required(
        _ name: String, of value: JSONValue
    ) throws(CommandError) -> String {
        guard let text = try text(name, of: value) else {
            throw CommandError(.badData, "“\(name)” is missing")
        }
        return text
    }

    private static func optionalName(
        _ name: String, of value: JSONValue
    ) throws(CommandError) -> String? {
        guard let text = try text(name, of: value) else { return nil }
        guard text.utf8.count <= maximumName else {
            throw CommandError(.badData, "“\(name)” has more than \(maximumName) bytes")
        }
        return text
    }

    private static func name(
        _ name: String, of value: JSONValue
    ) throws(CommandError) -> String {
        guard let text = try optionalName(name, of: value) else {
            throw CommandError(.badData, "“\(name)” is missing")
        }
        return text
    }
}
