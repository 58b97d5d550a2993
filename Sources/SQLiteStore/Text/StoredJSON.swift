import AlertCore
import FoundationEssentials

/// The JSON in columns; see <https://sqlite.org/json1.html> for how to query it.
enum StoredJSON {
    static func encode(_ buttons: [Alert.Button]) -> String {
        array(buttons) { json, button in
            json += #"{"id":"#
            append(button.id, to: &json)
            if let role = button.role {
                json += #","role":"#
                append(role.rawValue, to: &json)
            }
            json += #","title":"#
            append(button.title, to: &json)
            json += "}"
        }
    }

    static func encode(_ buttons: [PartialButton]) -> String {
        array(buttons) { json, button in
            let members = [("id", button.id), ("role", button.role), ("title", button.title)]
            var separator = "{"
            for case (let name, let value?) in members {
                json += separator + "\"\(name)\":"
                append(value, to: &json)
                separator = ","
            }
            json += separator == "{" ? "{}" : "}"
        }
    }

    static func encode(_ strings: [String: String]) -> String {
        if strings.isEmpty { return "{}" }
        let members = array(strings.sorted { $0.key < $1.key }) { json, member in
            append(member.key, to: &json)
            json += ":"
            append(member.value, to: &json)
        }
        return "{" + members.dropFirst().dropLast() + "}"
    }

    static func encode(_ strings: [String]) -> String {
        array(strings) { append($1, to: &$0) }
    }

    private static func array<Element>(
        _ elements: [Element], _ write: (inout String, Element) -> Void
    ) -> String {
        var json = "["
        for (index, element) in elements.enumerated() {
            if index > 0 { json += "," }
            write(&json, element)
        }
        return json + "]"
    }

    /// Writes a string as defined in RFC 8259 §7.
    ///
    /// Gain: asks take 0.9 times the CPU time (`alertq-bench ask`, files in memory; against
    /// Foundation's encoder).
    private static func append(_ text: String, to json: inout String) {
        json += "\""
        if text.utf8.contains(where: mustEscape) {
            for scalar in text.unicodeScalars { append(scalar, to: &json) }
        } else {
            json += text
        }
        json += "\""
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func append(_ scalar: Unicode.Scalar, to json: inout String) {
        switch scalar {
        case "\"", "\\":
            json += "\\"
            json.unicodeScalars.append(scalar)
        case "\u{0}"..<" ":
            let digits = String(scalar.value, radix: 16)
            json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default:
            json.unicodeScalars.append(scalar)
        }
    }

    /// The buttons of a column; an erased label reads as the button's index, such as `#0`.
    static func buttons(_ text: String) throws -> [Alert.Button] {
        guard text != "[]" else { return [] }
        if let buttons = ButtonScanner.buttons(text) { return buttons }
        return try partialButtons(text).enumerated().map { index, button in
            let title = button.title ?? "#\(index)"
            return Alert.Button(
                title, id: button.id ?? title,
                role: button.role.flatMap(Alert.Button.Role.init))
        }
    }

    /// The buttons of a column, with `nil` for what has been erased.
    static func partialButtons(_ text: String) throws -> [PartialButton] {
        try decode([PartialButton].self, text)
    }

    /// The id of one of a column's buttons; `nil` if there is none, or it has been erased.
    static func buttonID(at index: Int, in text: String) -> String? {
        guard let buttons = try? partialButtons(text), buttons.indices.contains(index) else {
            return nil
        }
        return buttons[index].id
    }

    static func strings(_ text: String) throws -> [String: String] {
        text == "{}" ? [:] : try decode([String: String].self, text)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
