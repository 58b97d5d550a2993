/// The words of a search, checked and turned into a search expression.
///
/// Words are separated by spaces; all of them must occur. Words in quotation marks must occur as a
/// phrase. A word with a star at its end matches all words that begin with it. Case and accents are
/// ignored. Nothing else in the text has a special meaning.
package struct SearchText: Sendable {
    /// The maximum length of such a text, in bytes of UTF-8.
    static let largest = 1024
    /// The maximum number of words and phrases.
    static let mostTerms = 32

    /// The text as FTS5 reads it: every term as a quoted string, nothing as syntax. See
    /// <https://sqlite.org/fts5.html#full_text_query_syntax>.
    package let expression: String

    /// - Throws: ``AlertError/invalid(_:_:)`` if the text has no word or is too long.
    package init(_ text: String) throws(AlertError) {
        guard text.utf8.count <= Self.largest else {
            throw .invalid("search text", "is longer than \(Self.largest) bytes")
        }
        guard !text.utf8.contains(0) else {
            throw .invalid("search text", "contains a NUL character")
        }
        let terms = try Self.terms(text).filter {
            $0.text.unicodeScalars.contains(where: Self.isWord)
        }
        guard !terms.isEmpty else {
            throw .invalid("search text", "has no word: give letters or digits to look for")
        }
        guard terms.count <= Self.mostTerms else {
            throw .invalid("search text", "has more than \(Self.mostTerms) words")
        }
        expression = terms.map(\.expression).joined(separator: " AND ")
    }

    private struct Term {
        var text = ""
        var isPrefix = false

        var expression: String {
            let quoted = text.split(separator: "\"", omittingEmptySubsequences: false)
                .joined(separator: "\"\"")
            return "\"\(quoted)\"" + (isPrefix ? " *" : "")
        }
    }

    private static func terms(_ text: String) throws(AlertError) -> [Term] {
        var terms: [Term] = []
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            var term = Term()
            if first == "\"" {
                rest.removeFirst()
                guard let end = rest.firstIndex(of: "\"") else {
                    throw .invalid("search text", "has an unmatched quotation mark")
                }
                term.text = String(rest[..<end])
                rest = rest[rest.index(after: end)...]
                if rest.first == "*" {
                    term.isPrefix = true
                    rest.removeFirst()
                }
            } else {
                let word = rest.prefix { $0 != "\"" && !$0.properties.isWhitespace }
                rest = rest[word.endIndex...]
                if word.isEmpty { rest.removeFirst() }
                term.text = String(word)
                if term.text.hasSuffix("*") {
                    term.text.removeLast()
                    // A star after a comma belongs to no word.
                    term.isPrefix = term.text.unicodeScalars.last.map(isWord) ?? false
                }
            }
            terms.append(term)
        }
        return terms
    }

    /// Whether a character is part of a word for the tokenizer `unicode61`: letters, numbers and
    /// private-use characters; see <https://sqlite.org/fts5.html#unicode61_tokenizer>.
    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .decimalNumber, .letterNumber, .otherNumber, .privateUse:
            true
        default: false
        }
    }
}
