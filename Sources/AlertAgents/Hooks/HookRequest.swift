import AlertQueue
import Glibc

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
    /// - Throws: ``UnreadableText``, which says what is wrong.
    init(_ bytes: [UInt8]) throws(UnreadableText) {
        guard bytes.count <= Self.maximumSize else {
            throw UnreadableText("it has more than \(Self.maximumSize) bytes")
        }
        let value = try Self.object(bytes)
        let name = try Self.name("hook_event_name", of: value)
        guard let event = Event(rawValue: name) else {
            let known = Event.allCases.map(\.rawValue).joined(separator: " and ")
            throw UnreadableText(
                "its event is “\(name)”; this hook answers \(known)")
        }
        guard let input = value["tool_input"] else {
            throw UnreadableText("“tool_input” is missing")
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
    private static func object(_ bytes: [UInt8]) throws(UnreadableText) -> JSONValue {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw UnreadableText("\(error)")
        }
        guard case .object = value else { throw UnreadableText("it is not an object") }
        return value
    }

    private static func text(
        _ name: String, of value: JSONValue
    ) throws(UnreadableText) -> String? {
        guard let member = value[name] else { return nil }
        guard let text = member.string else {
            throw UnreadableText("“\(name)” is not a string")
        }
        guard !text.isEmpty else { throw UnreadableText("“\(name)” is empty") }
        return text
    }

    private static func required(
        _ name: String, of value: JSONValue
    ) throws(UnreadableText) -> String {
        guard let text = try text(name, of: value) else {
            throw UnreadableText("“\(name)” is missing")
        }
        return text
    }

    private static func optionalName(
        _ name: String, of value: JSONValue
    ) throws(UnreadableText) -> String? {
        guard let text = try text(name, of: value) else { return nil }
        guard text.utf8.count <= maximumName else {
            throw UnreadableText("“\(name)” has more than \(maximumName) bytes")
        }
        return text
    }

    private static func name(
        _ name: String, of value: JSONValue
    ) throws(UnreadableText) -> String {
        guard let text = try optionalName(name, of: value) else {
            throw UnreadableText("“\(name)” is missing")
        }
        return text
    }
}

/// The standard input of a hook.
enum HookInput {
    /// How long an agent may take to write its request, which is not part of the wait.
    static let limit = Duration.seconds(10)
    /// How often the end of the wait and signals are looked for.
    private static let pauseMilliseconds: Int32 = 100

    /// Reads what the agent sends, to its end, and keeps one byte more than the limit, as a mark
    /// that it was exceeded.
    ///
    /// The rest of such a text is read too: an agent that can't write all of it may take that for
    /// a failure of the hook, and go on.
    ///
    /// - Throws: ``HookFailure`` if it does not end within the limit, or a signal comes first.
    static func read(
        _ descriptor: Int32, within limit: Duration, _ context: AgentContext
    ) throws(HookFailure) -> [UInt8] {
        let end = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if let signal = context.ending() { throw .interrupted(signal, nil) }
            guard ContinuousClock.now < end else {
                throw .unreadable(UnreadableText("stdin has not ended"))
            }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // A read could block unless there is something to read, whatever a signal interrupts.
            guard poll(&request, 1, pauseMilliseconds) > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += buffer[..<min(count, HookRequest.maximumSize + 1 - bytes.count)]
            } else if errno != EINTR, errno != EAGAIN {
                let reason = String(cString: strerror(errno))
                throw .unreadable(UnreadableText("can't read stdin: \(reason)"))
            }
        }
    }
}
