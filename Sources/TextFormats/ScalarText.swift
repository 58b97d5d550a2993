/// Text as other programs read it: scalar by scalar.
///
/// A `Character` may consist of several scalars: a quote with a mark after it is another one than the
/// quote, so that `replacing("'", with: …)` and `split(separator: "'")` pass it over. A shell, a
/// parser of markup or a spreadsheet sees the quote, and then a mark.
extension StringProtocol {
    /// The text with some of its scalars replaced.
    package func replacingScalars(_ replacements: [Unicode.Scalar: String]) -> String {
        var text = ""
        for scalar in unicodeScalars {
            if let replacement = replacements[scalar] {
                text += replacement
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// What stands before a scalar and what after it, where it first occurs; `nil` if it doesn't.
    package func split(atFirst scalar: Unicode.Scalar) -> (before: String, after: String)? {
        guard let place = unicodeScalars.firstIndex(of: scalar) else { return nil }
        let after = unicodeScalars.index(after: place)
        return (String(self[..<place]), String(self[after...]))
    }
}
