import AlertQueue
import FoundationEssentials
import TextFormats

/// The arguments of a call, read as the tool's schema says.
struct AgentArguments: Sendable {
    private let values: JSONValue
    /// Arguments that the tool doesn't have, which count for nothing.
    let ignored: [String]

    /// - Throws: ``AgentFailure`` for an argument that the tool does not have, and that was
    ///   probably meant: ignoring it would ask something else.
    init(_ values: JSONValue, of tool: Tool) throws(AgentFailure) {
        var forms = ArgumentForms(tool)
        self.values = try forms.arguments(values)
        ignored = forms.ignored
    }

    func text(_ name: String) throws(AgentFailure) -> String? {
        guard let value = values[name] else { return nil }
        guard let text = value.string else {
            throw AgentFailure(.invalid, "“\(name)” is not a string")
        }
        return text
    }

    /// Whether a question takes the place of the earlier one with its key.
    func replaces() throws(AgentFailure) -> Bool {
        guard let value = values["replace"] else { return false }
        guard case .bool(let replaces) = value else {
            throw AgentFailure(.invalid, "“replace” is not true or false")
        }
        guard !replaces || values["key"] != nil else {
            throw AgentFailure(
                .invalid, "“replace” needs a “key”, under which the other question was asked")
        }
        return replaces
    }

    /// Which alert is meant: the id, or the key.
    func subject() throws(AgentFailure) -> Subject {
        let id = values["id"]
        switch (try text("key"), id) {
        case (let key?, nil): return .key(key)
        case (nil, let id?):
            guard let number = id.integer else {
                throw AgentFailure(.invalid, "“id” is not an integer")
            }
            return .id(number)
        case (nil, nil):
            throw AgentFailure(.invalid, "give the “id” or the “key” of an alert")
        case (_?, _?):
            throw AgentFailure(.invalid, "“id” and “key” name two alerts; give one of them")
        }
    }

    enum Subject: Sendable {
        case id(Alert.ID)
        case key(String)
    }

    func limit() throws(AgentFailure) -> Int {
        guard let value = values["limit"] else { return 20 }
        guard let number = value.integer, (1...100).contains(number) else {
            throw AgentFailure(.invalid, "“limit” is not an integer from 1 to 100")
        }
        return Int(number)
    }

    /// What makes two calls the same: all arguments, whatever their order.
    func identity() throws -> String {
        try values.sorted.text()
    }
}

// MARK: - Alerts

extension AgentArguments {
    /// The question of an `ask`, without its source.
    func question() throws(AgentFailure) -> Alert {
        var alert = try notice()
        alert.buttons = try buttons()
        alert.fields = try fields()
        alert.defaultButton = try text("default")
        alert.validFor = try validity()
        guard alert.defaultButton == nil || alert.deadline != nil else {
            throw AgentFailure(
                .invalid, "“default” needs a “timeout”, after which it is applied")
        }
        return alert
    }

    /// The alert of a `notify`, without its source.
    func notice() throws(AgentFailure) -> Alert {
        guard let title = try text("title") else {
            throw AgentFailure(.invalid, "“title” is missing")
        }
        return Alert(
            try line(title, "title"), message: try text("message").map(SafeText.revealed),
            priority: try priority(),
            deadline: try deadline(), key: try text("key"), userInfo: try info())
    }

    /// A text of one line, as the schema says.
    private func line(_ text: String, _ place: String) throws(AgentFailure) -> String {
        guard !text.contains(where: \.isNewline) else {
            throw AgentFailure(
                .invalid,
                "“\(place)” has a line break; it is a single line, and “message” is for more")
        }
        return SafeText.revealed(text)
    }

    private func priority() throws(AgentFailure) -> Alert.Priority {
        guard let word = try text("priority") else { return .normal }
        let priorities = Alert.Priority.allCases
        guard let priority = priorities.first(where: { $0.word == word }) else {
            let words = priorities.map(\.word)
            throw AgentFailure(
                .invalid,
                "“priority”: “\(word.prefix(80))” is not one of \(words.joined(separator: ", "))"
                    + Suggestion.hint(for: word, among: words))
        }
        return priority
    }

    private func deadline() throws(AgentFailure) -> Alert.Deadline? {
        guard let time = try text("timeout") else { return nil }
        do {
            return try DateText.deadline(time, now: Date())
        } catch {
            throw AgentFailure(.invalid, "“timeout”: \(error)")
        }
    }

    private func validity() throws(AgentFailure) -> Duration? {
        guard let length = try text("valid") else { return nil }
        do {
            return try DurationText.parse(length)
        } catch {
            throw AgentFailure(.invalid, "“valid”: \(error)")
        }
    }

    private func info() throws(AgentFailure) -> [String: String] {
        guard let value = values["info"] else { return [:] }
        guard let members = value.members else {
            throw AgentFailure(.invalid, "“info” is not an object")
        }
        var info: [String: String] = [:]
        for (name, value) in members {
            guard let text = value.string else {
                throw AgentFailure(.invalid, "“\(name.prefix(80))” in “info” is not a string")
            }
            // Names that only differ in how a letter is composed are equal here.
            guard info.updateValue(text, forKey: name) == nil else {
                throw AgentFailure(.invalid, "“\(name.prefix(80))” is in “info” twice")
            }
        }
        return info
    }

    private func fields() throws(AgentFailure) -> [Alert.Field] {
        guard let schema = values["schema"] else { return [] }
        do {
            return try FieldJSON.fields(schema: schema)
        } catch {
            throw AgentFailure(.invalid, "“schema”: \(error)")
        }
    }

    private func buttons() throws(AgentFailure) -> [Alert.Button] {
        guard let value = values["buttons"] else {
            return [Alert.Button("Yes", id: "yes"), .cancel("No", id: "no")]
        }
        guard let elements = value.elements, !elements.isEmpty else {
            throw AgentFailure(
                .invalid,
                "“buttons” is not a list with at least one button; to tell people "
                    + "something without a question, use notify")
        }
        var buttons: [Alert.Button] = []
        for (index, element) in elements.enumerated() {
            buttons.append(try button(element, "buttons[\(index)]"))
        }
        guard buttons.count == 1 || buttons.contains(where: { $0.role == .cancel }) else {
            throw AgentFailure(
                .invalid,
                "none of the \(buttons.count) buttons means no: give the one that does "
                    + "the role “cancel”, or add one")
        }
        return buttons
    }

    private func button(
        _ value: JSONValue, _ place: String
    ) throws(AgentFailure) -> Alert.Button {
        guard let members = value.members else {
            throw AgentFailure(
                .invalid,
                "“\(place)” is not an object such as {\"id\": \"yes\", \"title\": "
                    + "\"Deploy\"}")
        }
        for (name, value) in members {
            guard ["id", "title", "role"].contains(name) else {
                throw AgentFailure(
                    .invalid,
                    "“\(place)” has “\(name.prefix(80))”; a button has id, title and "
                        + "role")
            }
            if case .null = value { continue }
            guard value.string != nil else {
                throw AgentFailure(.invalid, "“\(place).\(name)” is not a string")
            }
        }
        guard let title = value["title"]?.string else {
            throw AgentFailure(.invalid, "“\(place).title” is missing")
        }
        let role = value["role"]?.string
        guard role == nil || role.flatMap(Alert.Button.Role.init) != nil else {
            throw AgentFailure(
                .invalid,
                "“\(place).role” is not one of cancel, destructive; leave it out for an "
                    + "ordinary button")
        }
        return Alert.Button(
            try line(title, "\(place).title"), id: value["id"]?.string,
            role: role.flatMap(Alert.Button.Role.init))
    }
}
