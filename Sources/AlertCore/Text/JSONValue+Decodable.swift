import FoundationEssentials

/// Reads any JSON; the members of an object come in no particular order.
extension JSONValue: Decodable {
    /// Reads one JSON value in UTF-8.
    ///
    /// - Throws: `DecodingError` for anything else, and for more than 512 levels.
    package init(parsing bytes: [UInt8]) throws {
        // Foundation would guess other encodings, in which some bytes are zero.
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "it is not valid UTF-8"))
        }
        self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    package init(from decoder: any Decoder) throws {
        // Each wrong guess costs an error, so the most frequent kinds come first.
        let single = try decoder.singleValueContainer()
        if let text = try? single.decode(String.self) {
            self = .string(text)
        } else if let members = try? decoder.container(keyedBy: Name.self) {
            self = .object(
                try members.allKeys.map { name in
                    (name.stringValue, try members.decode(JSONValue.self, forKey: name))
                })
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSONValue.self)) }
            self = .array(values)
        } else if let number = try? single.decode(Int64.self) {
            self = .integer(number)
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if single.decodeNil() {
            self = .null
        } else {
            self = .number(try single.decode(Double.self))
        }
    }
}

// MARK: - Looking inside

extension JSONValue {
    /// The value of a member; `nil` if it is absent or null, or this is not an object.
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
        if case .integer(let number) = self { number } else { nil }
    }

    package var members: [(key: String, value: JSONValue)]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }
}
