import AlertCore
import TextFormats

/// The words of an alert's texts as PostgreSQL's text search has them, which finds candidates; the
/// core's ``SearchText`` decides.
enum SearchLexemes {
    /// The greatest length of an indexed word, in bytes: longer ones are found by their beginning.
    /// The server's limit is 2 KiB.
    private static let longest = 200

    static func of(_ alert: Alert, _ input: Alert.Input) -> Set<String> {
        var words: Set<String> = []
        for column in SearchableText(alert, input).columns {
            for word in Self.words(column.text) { words.insert(cut(word)) }
        }
        words.remove("")
        return words
    }

    /// The query that all candidates match; see
    /// <https://www.postgresql.org/docs/current/datatype-textsearch.html#DATATYPE-TSQUERY>.
    static func query(_ text: SearchText) -> String {
        text.terms.flatMap { term in
            let words = Self.words(term.pattern)
            return words.enumerated().map { index, word in
                let cutWord = cut(word)
                let isLast = index == words.count - 1
                let isPrefix = (isLast && term.isPrefix) || cutWord.utf8.count < word.utf8.count
                let quoted = cutWord.replacingScalars(["\\": "\\\\", "'": "''"])
                return "'\(quoted)'" + (isPrefix ? ":*" : "")
            }
        }.joined(separator: " & ")
    }

    /// The parts between spaces, to which no mark belongs that follows one.
    private static func words(_ text: String) -> [String] {
        text.unicodeScalars.split(separator: " ").map { String(String.UnicodeScalarView($0)) }
    }

    private static func cut(_ word: some StringProtocol) -> String {
        guard word.utf8.count > longest else { return String(word) }
        var cut = ""
        for scalar in word.unicodeScalars {
            guard cut.utf8.count + String(scalar).utf8.count <= longest else { break }
            cut.unicodeScalars.append(scalar)
        }
        return cut
    }
}
