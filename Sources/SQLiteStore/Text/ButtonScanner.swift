import AlertCore

/// A fast reader of the JSON that this library writes, as long as nothing in it is escaped.
///
/// A page of the history has fifty rows with buttons, and decoding those with Foundation takes
/// longer than SQLite takes for the page. Anything that this scanner does not expect is left to
/// Foundation.
///
/// Gain: a page takes 0.46 times as long, p50 (`alertq-bench history --alerts 100000`; against
/// Foundation's decoder alone).
struct ButtonScanner {
    private var rest: UnsafeBufferPointer<UInt8>.SubSequence

    /// The buttons of a column; `nil` unless the text is in the plainest form.
    static func buttons(_ text: String) -> [Alert.Button]? {
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
