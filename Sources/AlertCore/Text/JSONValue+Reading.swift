// Reading JSON of any shape, and looking inside.
extension JSONValue {
    /// Reads one value in UTF-8.
    ///
    /// - Throws: ``JSONError`` for anything else, and for more than 256 levels.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes)
        self = try parser.value()
    }

    /// The value of the member with exactly this name; `nil` if it is absent or null, or this is
    /// not an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        let value = members.first { $0.key.isIdentical(to: name) }?.value
        if case .null? = value { return nil }
        return value
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let digits): Int64(digits)
        default: nil
        }
    }

    package var members: [(key: String, value: JSONValue)]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }
}
