import TextFormats

/// Comma-separated values as RFC 4180 defines them: CRLF ends a row, and a field that needs it is
/// quoted (<https://www.rfc-editor.org/rfc/rfc4180>).
enum CSVText {
    /// One field of a row.
    enum Field: Sendable {
        case number(Int64?)
        case text(String?)
    }

    static func row(_ fields: [Field]) -> String {
        fields.map(text).joined(separator: ",") + "\r\n"
    }

    private static func text(_ field: Field) -> String {
        switch field {
        case .number(nil), .text(nil): return ""
        case .number(let number?): return String(number)
        case .text(let text?): return quoted(guarded(text))
        }
    }

    private static func quoted(_ text: String) -> String {
        // Some programs end a line at other control characters, too.
        let needsQuotes = text.unicodeScalars.contains { scalar in
            switch scalar {
            case ",", "\"": true
            case " "..."~", "\t": false
            default: scalar.isControl
            }
        }
        guard needsQuotes || text.first == " " || text.last == " " else { return text }
        return "\"" + text.replacingScalars(["\"": "\"\""]) + "\""
    }

    /// A text that no spreadsheet takes for a formula.
    ///
    /// A text that begins with a character that starts a formula gets an apostrophe before it, and
    /// so does a text that begins with an apostrophe: removing one always gives the original text
    /// back. See <https://owasp.org/www-community/attacks/CSV_Injection>.
    private static func guarded(_ text: String) -> String {
        switch text.unicodeScalars.first {
        case "=", "+", "-", "@", "\t", "\r", "\n", "'",
            // Their full-width forms count as the same in some spreadsheets.
            "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}":
            "'" + text
        default: text
        }
    }
}
