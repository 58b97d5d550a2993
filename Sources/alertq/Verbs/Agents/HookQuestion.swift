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
