import AlertQueue

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
