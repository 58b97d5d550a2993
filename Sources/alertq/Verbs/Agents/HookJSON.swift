import AlertQueue

/// A JSON value as another program wrote it: members keep their order, and numbers their digits.
///
/// What a person is asked to allow must be what the tool will do, so nothing may be lost between
/// reading it and showing it.
indirect enum HookJSON: Sendable, Hashable {
    case null
    case bool(Bool)
    /// The digits as they were written.
    case number(String)
    case string(String)
    case array([HookJSON])
    case object([Member])

    struct Member: Sendable, Hashable {
        let name: String
        let value: HookJSON
    }

    /// The member of an object with exactly this name.
    subscript(name: String) -> HookJSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.isIdentical(to: name) }?.value
    }

    /// The same object without a member.
    func without(_ name: String) -> HookJSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !$0.name.isIdentical(to: name) })
    }
}

// MARK: - Writing

extension HookJSON {
    /// The value on one line.
    func line() throws -> String { try text(indentation: nil) }

    /// The value on a line for each member and element.
    ///
    /// Strings stay within their lines, and everything that a screen might hide is escaped.
    func lines() throws -> String { try text(indentation: "") }

    private func text(indentation: String?) throws -> String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): try JSONValue.string(text).text()
        case .array(let values):
            try Self.list("[", "]", indentation, values) { try $0.text(indentation: $1) }
        case .object(let members):
            try Self.list("{", "}", indentation, members) { member, indentation in
                try JSONValue.string(member.name).text() + ": "
                    + member.value.text(indentation: indentation)
            }
        }
    }

    private static func list<Element>(
        _ opening: String, _ closing: String, _ indentation: String?, _ elements: [Element],
        _ text: (Element, String?) throws -> String
    ) throws -> String {
        guard let indentation, !elements.isEmpty else {
            return opening + (try elements.map { try text($0, nil) }.joined(separator: ", "))
                + closing
        }
        let inner = indentation + "  "
        let lines = try elements.map { inner + (try text($0, inner)) }
        return "\(opening)\n\(lines.joined(separator: ",\n"))\n\(indentation)\(closing)"
    }
}
