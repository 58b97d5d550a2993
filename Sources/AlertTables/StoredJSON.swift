import AlertCore
import FoundationEssentials
import TextFormats

/// The JSON in columns.
package enum StoredJSON {
    package static func encode(_ buttons: [Alert.Button]) -> String {
        array(buttons) { json, button in
            json.write(#"{"id":"#)
            json.write(string: button.id)
            if let role = button.role {
                json.write(#","role":"#)
                json.write(string: role.rawValue)
            }
            json.write(#","title":"#)
            json.write(string: button.title)
            json.write("}")
        }
    }

    /// Buttons with the members that are left of them.
    package static func encode(_ buttons: [PartialButton]) -> String {
        let objects = buttons.map { button in
            [("id", button.id), ("role", button.role), ("title", button.title)]
                .compactMap { name, text in text.map { (name, JSONValue.string($0)) } }
        }
        return JSONValue.array(objects.map { .object($0) }).canonical
    }

    package static func encode(_ strings: [String: String]) -> String {
        if strings.isEmpty { return "{}" }
        let members = strings.sorted { $0.key < $1.key }
        return JSONValue.object(members.map { ($0.key, .string($0.value)) }).canonical
    }

    package static func encode(_ strings: [String]) -> String {
        array(strings) { $0.write(string: $1) }
    }

    private static func array<Element>(
        _ elements: [Element], _ write: (inout CanonicalJSON, Element) -> Void
    ) -> String {
        var json = CanonicalJSON()
        json.write("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { json.write(",") }
            write(&json, element)
        }
        json.write("]")
        return json.text
    }

    /// The buttons of a column; an erased label reads as the button's index, such as `#0`.
    package static func buttons(_ text: String) throws -> [Alert.Button] {
        guard text != "[]" else { return [] }
        return try ButtonScanner.buttons(text) ?? buttons(partialButtons(text))
    }

    /// The buttons of which some may have been erased.
    package static func buttons(_ left: [PartialButton]) -> [Alert.Button] {
        left.enumerated().map { index, button in
            let title = button.title ?? "#\(index)"
            return Alert.Button(
                title, id: button.id ?? title,
                role: button.role.flatMap(Alert.Button.Role.init))
        }
    }

    /// The buttons of a column, with `nil` for what has been erased.
    package static func partialButtons(_ text: String) throws -> [PartialButton] {
        text == "[]" ? [] : try decode([PartialButton].self, text)
    }

    /// One of a column's buttons, or what is left of it; `nil` if there is none.
    package static func button(at index: Int, in text: String) -> PartialButton? {
        guard let buttons = try? partialButtons(text), buttons.indices.contains(index) else {
            return nil
        }
        return buttons[index]
    }

    package static func strings(_ text: String) throws -> [String: String] {
        text == "{}" ? [:] : try decode([String: String].self, text)
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value
    {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}

/// A fast reader of the JSON that this library writes, as long as nothing in it is escaped.
///
/// A page of the history has fifty rows with buttons, and decoding those with Foundation takes
/// longer than SQLite takes for the page. Anything that this scanner does not expect is left to
/// Foundation.
package struct ButtonScanner {
    private var rest: UnsafeBufferPointer<UInt8>.SubSequence

    /// The buttons of a column; `nil` unless the text is in the plainest form.
    package static func buttons(_ text: String) -> [Alert.Button]? {
        var text = text
        return text.withUTF8 { bytes in
            var scanner = ButtonScanner(rest: bytes[...])
            return scanner.array()
        }
    }

    private mutating func array() -> [Alert.Button]? {
        guard take("[") else { return nil }
        var buttons: [Alert.Button] = []
        repeat {
            guard take(#"{"id":"#), let id = string() else { return nil }
            var role: Alert.Button.Role?
            if take(#","role":"#) {
                guard let word = string(), let known = Alert.Button.Role(rawValue: word) else {
                    return nil
                }
                role = known
            }
            guard take(#","title":"#), let title = string(), take("}") else { return nil }
            buttons.append(Alert.Button(title, id: id, role: role))
        } while take(",")
        return take("]") && rest.isEmpty ? buttons : nil
    }

    /// A string without a backslash, whose contents are exactly the text between its quotes.
    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") }) else { return nil }
        let bytes = rest[..<end]
        guard !bytes.contains(where: { $0 == UInt8(ascii: "\\") || $0 < 0x20 }) else { return nil }
        rest = rest[(end + 1)...]
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func take(_ expected: StaticString) -> Bool {
        let word = UnsafeBufferPointer(
            start: expected.utf8Start, count: expected.utf8CodeUnitCount)
        guard rest.starts(with: word) else { return false }
        rest = rest.dropFirst(word.count)
        return true
    }
}
