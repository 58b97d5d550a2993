// Reading JSON of any shape, and looking inside.
extension JSONValue {
    /// Reads one value in UTF-8.
    ///
    /// - Throws: ``JSONError`` for anything else, and for more than 256 levels.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes)
        self = try parser.value()
    }

    /// Reads one value from a program that may be careless, so that what it says can be used, or at
    /// least be shown and replied to.
    ///
    /// Beside what ``init(parsing:)`` reads, this takes a byte order mark before the value; names
    /// that an object has twice, all of whose members stay in their order; half of a surrogate pair,
    /// which becomes its escape as a text that one sees, such as `\ud83d`; and strings that are not
    /// UTF-8, whose bytes become U+FFFD.
    ///
    /// - Returns: The value, and whether it says exactly what the text does. If not, another text
    ///   may have the same value: compare such texts byte by byte.
    package static func tolerant(
        parsing bytes: [UInt8]
    ) throws(JSONError) -> (value: JSONValue, isExact: Bool) {
        var parser = JSONParser(bytes, isTolerant: true)
        let value = try parser.value()
        return (value, parser.isExact)
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
