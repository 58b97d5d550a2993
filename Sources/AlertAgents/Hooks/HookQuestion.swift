import AlertQueue

/// What a person is asked about a request.
///
/// The message ends with the command, as it is: whatever the command contains, it can't be taken
/// for one of the lines before it. Only characters without a width that titles and messages may
/// have are replaced by visible ones. Other inputs are JSON.
struct HookQuestion: Sendable {
    /// The ids of the buttons.
    static let allow = "allow"
    static let deny = "deny"

    let title: String
    let message: String
    private let request: HookRequest
    private let agent: HookAgent

    init(_ request: HookRequest, of agent: HookAgent) throws {
        self.request = request
        self.agent = agent
        let isShell = ["Bash", "PowerShell"].contains(request.tool) && request.command != nil
        let what = isShell ? "run a command" : "use " + request.tool
        title = SafeText.revealed("\(agent.name) wants to \(what)")
        message = SafeText.revealed(try Self.lines(of: request).joined(separator: "\n"))
    }

    /// The alert; it expires when the agent stops waiting for it, so that nobody decides in vain.
    func alert(source: String, key: String, _ options: HookOptions) -> Alert {
        Alert(
            title, message: message,
            buttons: [
                Alert.Button("Allow once", id: Self.allow),
                Alert.Button("Deny", id: Self.deny, role: .cancel),
            ], priority: options.priority, deadline: .after(options.wait), source: source,
            key: key, presenters: options.presenters.isEmpty ? nil : options.presenters,
            userInfo: info)
    }

    /// What a program may want to know of the request.
    private var info: [String: String] {
        [
            "agent": agent.rawValue, "event": request.event.rawValue, "tool": request.tool,
            "session": request.session, "directory": request.directory,
        ]
    }

    /// The key of the question: a repeated hook finds the alert that the first one asked.
    ///
    /// - Parameter number: Counts the questions about the same use of a tool, from 1: one that
    ///   nobody decided is asked again.
    func key(_ number: Int, _ manager: AlertManager) async throws(AlertError) -> String {
        // Everything that a joined alert must have in common with this one.
        let parts = [title, message] + info.sorted { $0.key < $1.key }.map(\.value)
        guard let toolUse = request.toolUse else {
            return try await DerivedKey("hook", of: parts).current(manager)
        }
        return "\(toolUse):\(DerivedKey.digest(of: parts))" + (number > 1 ? ":\(number)" : "")
    }

    private static func lines(of request: HookRequest) throws -> [String] {
        var lines = [
            "Tool: " + SafeText.line(request.tool),
            "Directory: " + SafeText.line(request.directory),
            "Session: " + SafeText.line(request.session),
        ]
        if let subagent = request.subagent {
            lines.append("Subagent: " + SafeText.line(subagent))
        }
        guard let command = request.command else {
            return lines + ["", "Input:", try request.input.lines()]
        }
        let rest = request.input.without("command")
        if rest.members?.isEmpty == false { lines.append("Also: " + (try rest.text())) }
        let count = command.utf8.count { $0 == UInt8(ascii: "\n") } + 1
        return lines + ["", count == 1 ? "Command:" : "Command, \(count) lines:", command]
    }
}

// JSON as a person reads it: what is shown of a tool's input must be what the tool will get.
extension JSONValue {
    /// The same object without a member.
    func without(_ name: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !$0.key.isIdentical(to: name) })
    }

    /// The value on a line for each member and element.
    ///
    /// Strings stay within their lines, and everything that a screen might hide is escaped.
    func lines(indentation: String = "") throws -> String {
        switch self {
        case .array(let values):
            try Self.list("[", "]", indentation, values) { try $0.lines(indentation: $1) }
        case .object(let members):
            try Self.list("{", "}", indentation, members) { member, indentation in
                try JSONValue.string(member.key).text() + ": "
                    + member.value.lines(indentation: indentation)
            }
        default: try text()
        }
    }

    private static func list<Element>(
        _ opening: String, _ closing: String, _ indentation: String, _ elements: [Element],
        _ text: (Element, String) throws -> String
    ) throws -> String {
        guard !elements.isEmpty else { return opening + closing }
        let inner = indentation + "  "
        let lines = try elements.map { inner + (try text($0, inner)) }
        return "\(opening)\n\(lines.joined(separator: ",\n"))\n\(indentation)\(closing)"
    }
}
