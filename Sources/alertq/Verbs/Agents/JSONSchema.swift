import AlertQueue

/// JSON schemas, as tools need them; see <https://json-schema.org/draft/2020-12/schema>.
enum JSONSchema {
    /// An object with these properties.
    ///
    /// - Parameter isOpen: Whether it may have others.
    static func object(
        _ properties: [(key: String, value: JSONValue)], required: [String], isOpen: Bool = false
    ) -> JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("type", .string("object")), ("properties", .object(properties)),
        ]
        if !required.isEmpty {
            members.append(("required", .array(required.map(JSONValue.string))))
        }
        if !isOpen { members.append(("additionalProperties", .bool(false))) }
        return .object(members)
    }

    static func text(_ description: String) -> JSONValue {
        .object([("type", .string("string")), ("description", .string(description))])
    }

    /// One of some words.
    static func word(_ words: [String], _ description: String) -> JSONValue {
        .object([
            ("type", .string("string")), ("enum", .array(words.map(JSONValue.string))),
            ("description", .string(description)),
        ])
    }

    /// A value of a type, or null.
    static func optional(_ type: String, _ description: String) -> JSONValue {
        .object([
            ("type", .array([.string(type), .string("null")])),
            ("description", .string(description)),
        ])
    }
}
