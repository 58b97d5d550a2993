/// A text as a key of a set or a dictionary, compared byte by byte as in the database; see
/// ``Swift/String/isIdentical(to:)-(String)``.
package struct ExactText: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (one: ExactText, other: ExactText) -> Bool {
        one.text.isIdentical(to: other.text)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(text.utf8.count)
    }
}
