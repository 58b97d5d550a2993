import FoundationEssentials

/// A JSON value whose object keys keep their order.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Any other number, with its digits as they were written: `-0`, `2.50`, `1e400`.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([(key: String, value: JSONValue)])

    package static func optional(_ text: String?) -> JSONValue {
        text.map(JSONValue.string) ?? .null
    }

    package static func optional(_ number: (some BinaryInteger)?) -> JSONValue {
        number.map { .integer(Int64($0)) } ?? .null
    }

    /// The value on one line.
    package func text() throws -> String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .number(let digits): digits
        case .string(let value): try Self.quoted(value)
        case .array(let values):
            "[" + (try values.map { try $0.text() }.joined(separator: ",")) + "]"
        case .object(let members):
            "{"
                + (try members.map { try Self.quoted($0.key) + ":" + $0.value.text() }
                    .joined(separator: ","))
                + "}"
        }
    }

    /// The value as ``CanonicalJSON``.
    package var canonical: String {
        var json = CanonicalJSON()
        write(to: &json)
        return json.text
    }

    private func write(to json: inout CanonicalJSON) {
        switch self {
        case .null: json.write("null")
        case .bool(let value): json.write(value ? "true" : "false")
        case .integer(let value): json.write(digits: String(value))
        case .number(let digits): json.write(digits: digits)
        case .string(let value): json.write(string: value)
        case .array(let values):
            json.write("[")
            for (index, value) in values.enumerated() {
                if index > 0 { json.write(",") }
                value.write(to: &json)
            }
            json.write("]")
        case .object(let members):
            json.write("{")
            for (index, member) in members.enumerated() {
                if index > 0 { json.write(",") }
                json.write(string: member.key)
                json.write(":")
                member.value.write(to: &json)
            }
            json.write("}")
        }
    }

    /// A quoted string. Characters that a terminal might obey or hide are escaped too, although
    /// JSON allows them: the value is the same, and a printed line is harmless.
    private static func quoted(_ text: String) throws -> String {
        // Most texts need no escape, and Foundation is slow to find out.
        let isPlain = text.utf8.allSatisfy { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "\\")
        }
        if isPlain { return "\"\(text)\"" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let encoded = String(decoding: try encoder.encode(text), as: UTF8.self)
        guard encoded.unicodeScalars.contains(where: isHidden) else { return encoded }
        return encoded.unicodeScalars.reduce(into: "") { result, scalar in
            guard isHidden(scalar) else { return result.unicodeScalars.append(scalar) }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // The joiner of emoji is harmless, and common.
        case .format: scalar != "\u{200D}"
        default: false
        }
    }
}

// MARK: - Reading

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
    /// Beside what ``init(parsing:)`` reads, this takes names that an object has twice, all of whose
    /// members stay in their order; half of a surrogate pair, which becomes its escape as a text that
    /// one sees, such as `\ud83d`; and strings that are not UTF-8, whose bytes become U+FFFD.
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

    /// The number, if it is one that a `Double` can stand for.
    package var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let digits): Double(digits: digits)
        default: nil
        }
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

// MARK: - Encoding

/// Encodes the JSON value as such, with any encoder.
extension JSONValue: Codable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .integer(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .number(let digits):
            guard let number = Double(digits: digits) else {
                let context = EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: "no number of 64 bits")
                throw EncodingError.invalidValue(digits, context)
            }
            var container = encoder.singleValueContainer()
            try container.encode(number)
        case .string(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for (key, value) in members {
                try container.encode(value, forKey: Name(stringValue: key))
            }
        }
    }

    package init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            self = .object(
                try members.allKeys.map {
                    ($0.stringValue, try members.decode(JSONValue.self, forKey: $0))
                })
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !list.isAtEnd { values.append(try list.decode(JSONValue.self)) }
            self = .array(values)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? value.decode(Double.self) {
            self = .number("\(number)")
        } else {
            self = .string(try value.decode(String.self))
        }
    }
}
