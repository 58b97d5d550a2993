import AlertQueue
import TextFormats

/// Brings arguments into the form that a schema names, where what was sent has one meaning.
///
/// Models and libraries write lists and objects as texts that contain JSON, numbers as texts, and
/// texts as numbers. Clients add members of their own, which are left out and named: one that a
/// model meant is refused, because without it something else would be asked.
struct ArgumentForms {
    /// The names of the members that were left out.
    private(set) var ignored: [String] = []
    private let tool: Tool

    init(_ tool: Tool) {
        self.tool = tool
    }

    /// The arguments as the tool's schema has them, without members that are null.
    mutating func arguments(_ values: JSONValue) throws(AgentFailure) -> JSONValue {
        let known = tool.input["properties"]?.members ?? []
        var result: [(key: String, value: JSONValue)] = []
        for (name, value) in values.members ?? [] {
            if let property = known.first(where: { $0.key.isIdentical(to: name) }) {
                if case .null = value { continue }
                result.append((name, value.inForm(of: property.value, name)))
            } else {
                try leaveOut(name, known.map(\.key))
            }
        }
        return .object(result)
    }

    private mutating func leaveOut(_ name: String, _ known: [String]) throws(AgentFailure) {
        guard let meant = Self.meant(by: name, of: known) else {
            if ignored.count < Self.ignoredLimit { ignored.append(String(name.prefix(80))) }
            return
        }
        let hint = known.contains(meant) ? "; did you mean “\(meant)”?" : ""
        throw AgentFailure(
            .invalid,
            "\(tool.name) has no argument “\(name.prefix(80))”\(hint); it has: "
                + known.joined(separator: ", "))
    }

    private static let ignoredLimit = 20

    /// The argument that a name probably means, of this tool or of another one.
    private static func meant(by name: String, of known: [String]) -> String? {
        let others = AgentTools.all.flatMap { $0.input["properties"]?.members ?? [] }.map(\.key)
        if let other = others.first(where: name.isIdentical) { return other }
        if let similar = Suggestion.text(for: name, among: known) { return similar }
        let name = name.lowercased()
        return words.first { name.hasPrefix($0.word) && known.contains($0.argument) }?.argument
    }

    /// What models say for an argument, and say more of in a longer word: `timeout_seconds`.
    private static let words: [(word: String, argument: String)] = [
        ("button", "buttons"), ("option", "buttons"), ("choice", "buttons"), ("action", "buttons"),
        ("question", "message"), ("body", "message"), ("text", "message"), ("detail", "message"),
        ("description", "message"), ("timeout", "timeout"), ("deadline", "timeout"),
        ("expire", "timeout"), ("ttl", "timeout"), ("default", "default"),
    ]

    /// What is said of members that were left out; nothing if none were.
    static func sentence(_ ignored: [String]) -> String {
        guard !ignored.isEmpty else { return "" }
        let names = ignored.map { "“\($0)”" }.joined(separator: ", ")
        return " Ignored, because the tool has no such argument: \(names)."
    }
}

extension JSONValue {
    /// The value as a schema has it, if it has a form with that meaning; otherwise as it is.
    ///
    /// - Parameter name: What the value is called.
    fileprivate func inForm(of schema: JSONValue, _ name: String) -> JSONValue {
        switch schema["type"]?.string {
        case "array":
            let value = unwrapped { $0.elements != nil }
            guard let items = schema["items"], let elements = value.elements else { return value }
            return .array(elements.map { $0.inForm(of: items, name) })
        case "object":
            let value = unwrapped { $0.members != nil }
            guard let members = value.members else { return value }
            let (properties, others) = (schema["properties"], schema["additionalProperties"])
            return .object(
                members.compactMap { key, value in
                    if case .null = value { return nil }
                    if others?["type"]?.string == "string" { return (key, value.asText ?? value) }
                    return (key, properties?[key].map { value.inForm(of: $0, key) } ?? value)
                })
        case "boolean": return unwrapped { if case .bool = $0 { true } else { false } }
        case "integer": return wholeNumberInText.map(JSONValue.integer) ?? self
        case "string":
            return ["timeout", "valid"].contains(name) ? asDuration : isWord(name) ? asWord : self
        default: return self
        }
    }

    /// The value that a text contains as JSON, if it is of the wanted kind.
    private func unwrapped(_ isWanted: (JSONValue) -> Bool) -> JSONValue {
        guard let string, let value = try? JSONValue(parsing: Array(string.utf8)), isWanted(value)
        else { return self }
        return value
    }

    private var wholeNumberInText: Int64? {
        guard let string else { return wholeNumber }
        return Int64(string).flatMap { String($0) == string ? $0 : nil }
    }

    /// A number or a truth value as a text.
    private var asText: JSONValue? {
        switch self {
        case .integer(let number): .string(String(number))
        case .number(let digits): .string(wholeNumber.map { String($0) } ?? digits)
        case .bool(let value): .string(value ? "true" : "false")
        default: nil
        }
    }

    /// Whether a text is a name, for which a number can be meant; nobody means one for a title.
    private func isWord(_ name: String) -> Bool { ["key", "default", "id"].contains(name) }

    private var asWord: JSONValue { wholeNumber.map { .string(String($0)) } ?? self }

    /// A number of seconds as a text.
    private var asDuration: JSONValue {
        if let wholeNumber { return .string(String(wholeNumber)) }
        guard let seconds = double,
            let milliseconds = Int64(exactly: (seconds * 1000).rounded())
        else { return asText ?? self }
        return .string("\(milliseconds)ms")
    }
}
