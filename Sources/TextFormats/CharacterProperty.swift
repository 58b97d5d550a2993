/// A property of Unicode's by which a pattern chooses characters, such as `L` in `\p{L}`.
///
/// Of those that ECMA-262 lists, it has the general categories, by their short and their long
/// names, and the properties that the standard library knows; scripts are none of them.
struct CharacterProperty: Sendable {
    private enum Kind: Sendable {
        case categories([Unicode.GeneralCategory])
        case alphabetic, uppercase, lowercase, whiteSpace, emoji, any
    }

    private let kind: Kind
    /// Whether it chooses all others: `\P{L}`.
    private let isInverted: Bool

    /// - Parameter name: What stands in the braces; `nil` results from a name that is none.
    init?(_ name: String, isInverted: Bool) {
        self.isInverted = isInverted
        let parts = name.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        let isCategory = parts.count == 2 && ["General_Category", "gc"].contains(parts[0])
        guard isCategory || parts.count == 1, let word = parts.last else { return nil }
        if let categories = Self.categories(word) {
            kind = .categories(categories)
        } else if !isCategory, let other = Self.others.first(where: { $0.names.contains(word) }) {
            kind = other.kind
        } else {
            return nil
        }
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        let isInside =
            switch kind {
            case .categories(let all): all.contains(properties.generalCategory)
            case .alphabetic: properties.isAlphabetic
            case .uppercase: properties.isUppercase
            case .lowercase: properties.isLowercase
            case .whiteSpace: properties.isWhitespace
            case .emoji: properties.isEmoji
            case .any: true
            }
        return isInside != isInverted
    }

    private static let others: [(names: [String], kind: Kind)] = [
        (["Alphabetic", "Alpha"], .alphabetic), (["Uppercase", "Upper"], .uppercase),
        (["Lowercase", "Lower"], .lowercase), (["White_Space", "space"], .whiteSpace),
        (["Emoji"], .emoji), (["Any"], .any),
    ]

    /// The categories that a name stands for: one, or all whose short names begin with its letter.
    private static func categories(_ name: String) -> [Unicode.GeneralCategory]? {
        if name == "LC" || name == "Cased_Letter" {
            return [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter]
        }
        let letter = groups.first { $0.contains(name) }?[0]
        let found = table.filter { names, _ in
            names.contains(name) || letter.map(names[0].hasPrefix) == true
        }
        return found.isEmpty ? nil : found.map(\.category)
    }

    private static let groups = [
        ["L", "Letter"], ["M", "Mark", "Combining_Mark"], ["N", "Number"],
        ["P", "Punctuation", "punct"], ["S", "Symbol"], ["Z", "Separator"], ["C", "Other"],
    ]

    /// See <https://www.unicode.org/reports/tr44/#General_Category_Values>.
    private static let table: [(names: [String], category: Unicode.GeneralCategory)] = [
        (["Lu", "Uppercase_Letter"], .uppercaseLetter),
        (["Ll", "Lowercase_Letter"], .lowercaseLetter),
        (["Lt", "Titlecase_Letter"], .titlecaseLetter),
        (["Lm", "Modifier_Letter"], .modifierLetter), (["Lo", "Other_Letter"], .otherLetter),
        (["Mn", "Nonspacing_Mark"], .nonspacingMark), (["Mc", "Spacing_Mark"], .spacingMark),
        (["Me", "Enclosing_Mark"], .enclosingMark),
        (["Nd", "Decimal_Number", "digit"], .decimalNumber),
        (["Nl", "Letter_Number"], .letterNumber), (["No", "Other_Number"], .otherNumber),
        (["Pc", "Connector_Punctuation"], .connectorPunctuation),
        (["Pd", "Dash_Punctuation"], .dashPunctuation),
        (["Ps", "Open_Punctuation"], .openPunctuation),
        (["Pe", "Close_Punctuation"], .closePunctuation),
        (["Pi", "Initial_Punctuation"], .initialPunctuation),
        (["Pf", "Final_Punctuation"], .finalPunctuation),
        (["Po", "Other_Punctuation"], .otherPunctuation), (["Sm", "Math_Symbol"], .mathSymbol),
        (["Sc", "Currency_Symbol"], .currencySymbol),
        (["Sk", "Modifier_Symbol"], .modifierSymbol), (["So", "Other_Symbol"], .otherSymbol),
        (["Zs", "Space_Separator"], .spaceSeparator), (["Zl", "Line_Separator"], .lineSeparator),
        (["Zp", "Paragraph_Separator"], .paragraphSeparator),
        (["Cc", "Control", "cntrl"], .control), (["Cf", "Format"], .format),
        (["Cs", "Surrogate"], .surrogate), (["Co", "Private_Use"], .privateUse),
        (["Cn", "Unassigned"], .unassigned),
    ]
}
