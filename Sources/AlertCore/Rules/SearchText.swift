import Glibc
import TextFormats

/// What a search looks for, checked, and compared with texts.
///
/// Words are separated by spaces; all of them must occur. Words in quotation marks must occur as a
/// phrase. A word with a star at its end matches all words that begin with it. Case and accents are
/// ignored; ``SearchWords`` says what a word is. Nothing else in the text has a special meaning.
package struct SearchText: Sendable {
    /// The maximum length of such a text, in bytes of UTF-8.
    static let largest = 1024
    /// The maximum number of words and phrases.
    static let mostTerms = 32

    /// A word or phrase that must occur.
    package struct Term: Sendable, Hashable {
        /// What the words of a text must contain, such as ` old snapshots ` or ` snap`.
        package let pattern: String
        /// Whether the last word stands for all that begin with it.
        package var isPrefix: Bool { !pattern.hasSuffix(" ") }
    }

    package let terms: [Term]

    /// - Throws: ``AlertError/invalid(_:_:)`` if the text has no word or is too long.
    package init(_ text: String) throws(AlertError) {
        guard text.utf8.count <= Self.largest else {
            throw .invalid("search text", "is longer than \(Self.largest) bytes")
        }
        guard !text.utf8.contains(0) else {
            throw .invalid("search text", "contains a NUL character")
        }
        terms = try Self.terms(text)
        guard !terms.isEmpty else {
            throw .invalid("search text", "has no word: give letters or digits to look for")
        }
        guard terms.count <= Self.mostTerms else {
            throw .invalid("search text", "has more than \(Self.mostTerms) words")
        }
    }

    private static func terms(_ text: String) throws(AlertError) -> [Term] {
        var terms: [Term] = []
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            var (term, isPrefix) = ("", false)
            if first == "\"" {
                rest.removeFirst()
                guard let end = rest.firstIndex(of: "\"") else {
                    throw .invalid("search text", "has an unmatched quotation mark")
                }
                term = String(rest[..<end])
                rest = rest[rest.index(after: end)...]
                if rest.first == "*" {
                    isPrefix = true
                    rest.removeFirst()
                }
            } else {
                let word = rest.prefix { $0 != "\"" && !$0.properties.isWhitespace }
                rest = rest[word.endIndex...]
                if word.isEmpty { rest.removeFirst() }
                isPrefix = word.last == "*"
                term = String(isPrefix ? word.dropLast() : word)
            }
            var builder = WordBuilder()
            builder.add(term)
            // A star after a comma belongs to no word.
            let pattern = builder.pattern(isPrefix: isPrefix)
            if !pattern.isEmpty { terms.append(Term(pattern: pattern)) }
        }
        return terms
    }

    /// Whether all words occur in some texts, each of them in one text.
    package func matches(_ text: SearchableText) -> Bool {
        terms.allSatisfy { term in
            text.columns.contains { strstr($0.text, term.pattern) != nil }
        }
    }

    /// Whether all words occur in the texts of an alert, which may have been erased.
    package func matches(_ record: AlertRecord) -> Bool {
        !record.isErased && matches(SearchableText(record))
    }
}

/// The texts of an alert that are searched.
package struct SearchableText: Sendable {
    /// The words of the title, of the message, of the labels, of the values of
    /// ``Alert/userInfo``, and of the answer's values and note.
    package let columns: [SearchWords]

    package init(_ record: AlertRecord) {
        self.init(record.alert, record.response?.input ?? Alert.Input())
    }

    package init(_ alert: Alert, _ input: Alert.Input = Alert.Input()) {
        self.init(
            title: alert.title, message: alert.message ?? "",
            labels: Self.labels(alert.buttons), info: Self.values(alert.userInfo),
            answer: Self.answer(input.json(for: alert.fields), input.note))
    }

    package init(title: String, message: String, labels: String, info: String, answer: String) {
        columns = [title, message, labels, info, answer].map(SearchWords.init(of:))
    }

    package var byteCount: Int { columns.reduce(0) { $0 + $1.text.utf8.count } }

    /// The texts of the values of an answer's fields, and its note.
    package static func answer(_ values: JSONValue?, _ note: String?) -> String {
        let texts = values?.members?.flatMap { $0.value.elements ?? [$0.value] } ?? []
        return (texts.map { $0.string ?? ((try? $0.text()) ?? "") } + [note ?? ""])
            .joined(separator: "\n")
    }

    package static func labels(_ buttons: [Alert.Button]) -> String {
        buttons.map(\.title).joined(separator: "\n")
    }

    package static func values(_ info: [String: String]) -> String {
        info.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map(\.value).joined(separator: "\n")
    }
}
