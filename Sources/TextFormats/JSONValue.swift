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
