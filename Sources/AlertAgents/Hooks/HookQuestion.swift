import AlertQueue
import TextFormats

/// What a person is asked about a request.
///
/// After a few short lines the message has what the tool is given: a command, a file's new content, a
/// difference, or JSON. Whatever that contains, it can't be taken for one of the lines before it.
/// What else the tool is given, such as a model's description, comes last: however long, it doesn't
/// push a command off the screen. Only characters without a width that titles and messages may have
/// are replaced by visible ones. Of what is longer than a message, the beginnings are shown, with the
/// size and the hash of the whole.
struct HookQuestion: Sendable {
    /// The ids of the buttons.
    static let allow = "allow"
    static let deny = "deny"

    let title: String
    let message: String
    private let request: HookRequest
    private let agent: HookAgent
    /// What makes two requests the same, all of them in one turn.
    private let identity: [String]

    init(_ request: HookRequest, of agent: HookAgent) throws {
        self.request = request
        self.agent = agent
        let subject = try HookSubject(request)
        title = Self.title("\(agent.name) wants to \(subject.wish)")
        let input = try request.input.text()
        message = Self.message(Self.origin(of: request) + subject.lines, subject, input)
        let origin = request.origin
        // With all that is shown: an alert with the same key has the same words.
        identity = [
            agent.rawValue, request.event.rawValue, origin.session, origin.turn ?? "",
            origin.subagent ?? "", request.directory ?? "", request.tool, title, message, input,
            request.digest ?? "", request.toolUse ?? "",
        ]
    }

    /// Whether an answer that was given before is one to this request: only if both are certain to
    /// belong to one turn of the agent.
    var isBoundToTurn: Bool { request.origin.turn != nil || request.toolUse != nil }

    /// The alert; it expires when the agent stops waiting for it, so that nobody decides in vain.
    func alert(
        source: String, _ options: HookOptions, expiresAfter time: Duration
    ) -> Alert {
        Alert(
            title, message: message,
            buttons: [
                Alert.Button("Allow once", id: Self.allow),
                Alert.Button("Deny", id: Self.deny, role: .cancel),
            ], priority: options.priority, deadline: .after(time), source: source,
            key: Question.stem("hook", of: identity),
            presenters: options.presenters.isEmpty ? nil : options.presenters,
            userInfo: info)
    }

    /// A repeated hook finds the alert that the first one asked. A decision that may belong to another
    /// turn, or that no hook has taken for longer than one waits, is no answer to this request: its
    /// agent has moved on.
    func join(_ options: HookOptions) -> Question.Join {
        let limit = isBoundToTurn ? options.wait : .zero
        return .numbered(Question.Reuse(within: limit, byDefault: false))
    }

    /// What a program may want to know of the request, and ``HookProgress/ends(_:)`` compares.
    private var info: [String: String] {
        var info = [
            "agent": agent.rawValue, "event": request.event.rawValue, "tool": request.tool,
            "session": request.origin.session, "use": request.use,
        ]
        // A longer one is none that a system has; see PATH_MAX in limits.h.
        info["directory"] = request.directory.flatMap { $0.utf8.count <= 4096 ? $0 : nil }
        info["turn"] = request.origin.turn
        info["subagent"] = request.origin.subagent
        info["tool_use"] = request.toolUse
        return info
    }

}

// MARK: - Texts

extension HookQuestion {
    private static func origin(of request: HookRequest) -> [String] {
        var lines = [
            "Tool: " + SafeText.line(request.tool),
            "Directory: " + (request.directory.map(SafeText.line) ?? "not given"),
            "Session: " + SafeText.line(request.origin.session),
        ]
        if let subagent = request.subagentType ?? request.origin.subagent {
            lines.append("Subagent: " + SafeText.line(subagent))
        }
        return lines
    }

    private static func title(_ text: String) -> String {
        Self.beginning(of: SafeText.revealed(text), within: Alert.Limit.title - 3, mark: "…")
    }

    private static func message(
        _ lines: [String], _ subject: HookSubject, _ input: String
    ) -> String {
        let head = SafeText.revealed(lines.dropLast().joined(separator: "\n"))
        let heading = "\n" + SafeText.revealed(lines.last ?? "") + "\n"
        let content = SafeText.revealed(subject.content)
        let rest = subject.rest.map { "\n\n" + SafeText.revealed($0) } ?? ""
        let all = head + heading + content + rest
        guard all.utf8.count > Alert.Limit.message else { return all }
        // The lines before the content, a file's name among them, are cut as well.
        let start = beginning(of: head, within: 8 << 10, mark: "…\n")
        let end = beginning(of: rest, within: 8 << 10, mark: "…")
        // The content stands for the whole only if nothing else is missing.
        let (what, whole) =
            subject.isWhole && end == rest
            ? ("it has", subject.content) : ("the input has, as JSON on one line,", input)
        let bytes = Array(whole.utf8)
        let note =
            "\nOnly the beginning is shown: \(what) \(bytes.count) bytes, with the SHA-256 "
            + "\(Hex.text(SHA256.hash(of: bytes)))."
        let top = start + note + "\n" + heading
        let room = Alert.Limit.message - top.utf8.count - end.utf8.count - "…".utf8.count
        return top + beginning(of: content, within: room, mark: end.isEmpty ? "" : "…") + end
    }

    /// As much of a text as a number of bytes holds, and a mark if that is not all of it.
    private static func beginning(
        of text: String, within limit: Int, mark: String
    ) -> String {
        guard text.utf8.count > limit else { return text }
        var start = text.unicodeScalars[...]
        var count = text.utf8.count
        while count > limit, let last = start.popLast() { count -= String(last).utf8.count }
        return String(String.UnicodeScalarView(start)) + mark
    }
}

/// What a request is about, as a person reads it.
private struct HookSubject {
    /// What follows “wants to” in the title.
    let wish: String
    /// What is to be said before the content; the last line is its heading.
    let lines: [String]
    /// What the tool is given.
    let content: String
    /// What it is given besides, on a line.
    let rest: String?
    /// Whether the content is a text of the tool's own, rather than one that shows what it does.
    let isWhole: Bool

    init(_ request: HookRequest) throws {
        self =
            try Self.command(request) ?? Self.file(request)
            ?? Self(
                Self.reachesNetwork(request) ? "reach the network" : Self.use(of: request),
                heading: "Input", try request.input.lines())
    }

    /// - Parameter rest: What the tool is given besides.
    private init(
        _ wish: String, _ lines: [String] = [], also rest: JSONValue = .null, heading: String,
        _ content: String
    ) throws {
        let breaks = content.utf8.count { $0 == UInt8(ascii: "\n") }
        let count = content.hasSuffix("\n") ? breaks : breaks + 1
        isWhole = !["Input", "Difference"].contains(heading)
        let isCounted = count > 1 && heading != "Input"
        self.wish = wish
        self.lines = lines + ["", isCounted ? "\(heading), \(count) lines:" : "\(heading):"]
        self.rest =
            rest.members?.isEmpty == false ? "Also: " + (try rest.shortMembersFirst().text()) : nil
        self.content = content
    }

    private static func use(of request: HookRequest) -> String {
        "use " + SafeText.line(request.tool)
    }

    /// A command of a shell, or of another tool.
    private static func command(_ request: HookRequest) throws -> HookSubject? {
        guard let command = request.command else { return nil }
        let rest = request.input.without(["command"])
        if request.tool == "apply_patch" {
            return try Self(
                "change " + files(ofPatch: command), also: rest, heading: "Patch", command)
        }
        let isShell = ["Bash", "PowerShell"].contains(request.tool)
        let wish = isShell ? "run a command" : use(of: request)
        guard let target = networkTarget(request) else {
            return try Self(wish, also: rest, heading: "Command", command)
        }
        return try Self(
            wish + " that reaches the network", ["Network: " + SafeText.line(target)], also: rest,
            heading: "Command", command)
    }

    /// A change of a file by one of Claude Code's tools.
    private static func file(_ request: HookRequest) throws -> HookSubject? {
        let input = request.input
        func text(_ name: String) -> String? { input.onlyMember(name)?.string }
        func subject(
            _ verb: String, _ path: String, _ names: [String], _ heading: String,
            _ content: String
        ) throws -> HookSubject {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            return try Self(
                "\(verb) \(SafeText.line(name))",
                ["File: " + SafeText.line(path)], also: input.without(names), heading: heading,
                content)
        }
        switch request.tool {
        case "Write":
            guard let path = text("file_path"), let content = text("content") else { return nil }
            return try subject(
                "write", path, ["file_path", "content"],
                "Content, \(content.utf8.count) bytes", content)
        case "Edit":
            guard let path = text("file_path"), let old = text("old_string"),
                let new = text("new_string")
            else { return nil }
            return try subject(
                "edit", path, ["file_path", "old_string", "new_string"], "Difference",
                LineDifference.text(from: old, to: new))
        case "NotebookEdit":
            guard let path = text("notebook_path"), let source = text("new_source") else {
                return nil
            }
            return try subject(
                "edit", path, ["notebook_path", "new_source"], "New source", source)
        default: return nil
        }
    }

    /// What Codex asks to reach for a command, which says so in its description. A model may write
    /// the same there, so that this only adds to what is shown.
    private static func networkTarget(_ request: HookRequest) -> String? {
        guard let reason = request.input.onlyMember("description")?.string,
            reason.hasPrefix("network-access ")
        else { return nil }
        return String(reason.dropFirst("network-access ".count))
    }

    private static func reachesNetwork(_ request: HookRequest) -> Bool {
        ["WebFetch", "WebSearch"].contains(request.tool)
    }

    /// The files that a patch changes, as its format names them: one by its name, several by their
    /// number. See `apply_patch` in https://github.com/openai/codex.
    private static func files(ofPatch patch: String) -> String {
        let marks = ["Add File", "Update File", "Delete File", "Move to"]
        let blanks = Array(" \t\r".utf8)
        let paths = patch.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let line = line.drop(while: blanks.contains)
            let mark = marks.first { line.starts(with: "*** \($0):".utf8) }
            return mark.map { line.dropFirst($0.utf8.count + 5).drop(while: blanks.contains) }
        }
        guard paths.count == 1, let name = paths[0].split(separator: UInt8(ascii: "/")).last
        else { return paths.isEmpty ? "files" : "\(paths.count) files" }
        return SafeText.line(String(decoding: name, as: UTF8.self))
    }
}

/// The lines that differ between two texts, as diff(1) marks them.
enum LineDifference {
    /// Above this number of lines, all old lines are followed by all new ones: finding which of them
    /// stay takes time that grows with its square.
    private static let limit = 4000

    static func text(from old: String, to new: String) -> String {
        let (old, new) = (lines(old), lines(new))
        var marked: [(mark: String, line: ArraySlice<UInt8>)] = []
        var (removed, inserted): (Set<Int>, Set<Int>) = (Set(old.indices), Set(new.indices))
        if old.count + new.count <= limit {
            let difference = new.difference(from: old)
            removed = Set(difference.removals.map(offset))
            inserted = Set(difference.insertions.map(offset))
        }
        var next = 0
        func insert() {
            while inserted.contains(next) {
                marked.append(("+", new[next]))
                next += 1
            }
        }
        for (index, line) in old.enumerated() {
            if removed.contains(index) {
                marked.append(("-", line))
            } else {
                insert()
                marked.append((" ", line))
                next += 1
            }
        }
        insert()
        return marked.map { $0.mark + String(decoding: $0.line, as: UTF8.self) }
            .joined(separator: "\n")
    }

    private static func offset(_ change: CollectionDifference<ArraySlice<UInt8>>.Change) -> Int {
        switch change {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }

    /// Lines as bytes: two that only look the same differ.
    private static func lines(_ text: String) -> [ArraySlice<UInt8>] {
        Array(text.utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }
}

// MARK: - JSON

// JSON as a person reads it: what is shown of a tool's input must be what the tool will get.
extension JSONValue {
    /// The same object without some members.
    func without(_ names: [String]) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { member in !names.contains(where: member.key.isIdentical) })
    }

    /// The same object with its short members first, which the long ones can't push off the screen.
    func shortMembersFirst() throws -> JSONValue {
        guard case .object(let members) = self else { return self }
        let sized = try members.map { (member: $0, isShort: try $0.value.text().utf8.count <= 100) }
        return .object(
            sized.filter(\.isShort).map(\.member) + sized.filter { !$0.isShort }.map(\.member))
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
