/// The escape sequences for emphasis, or none.
package struct TextStyle: Sendable {
    package let isColoured: Bool

    package func bold(_ text: String) -> String { wrapped(text, "1") }
    package func dim(_ text: String) -> String { wrapped(text, "2") }
    package func red(_ text: String) -> String { wrapped(text, "31") }
    package func green(_ text: String) -> String { wrapped(text, "32") }

    private func wrapped(_ text: String, _ code: String) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
