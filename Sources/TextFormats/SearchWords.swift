/// The words of a text, as a search compares them.
///
/// They are the definition of what a search finds: an index of a store contains them, and what is
/// not in an index is compared with them.
///
/// * Letters and digits that follow each other are a word, without case and accents.
/// * In scripts that are written without spaces between words, and in Hangul, each two letters that
///   follow each other are a word, and so is the last one of such a run: so any part of the run is
///   found as words that follow each other.
/// * All else separates words, except characters that only change how their neighbours look.
package struct SearchWords: Sendable, Hashable {
    /// Each word after a space, and a space at the end: ` old snapshots `.
    package let text: String

    package init(of text: String) {
        var builder = WordBuilder()
        builder.add(text)
        self.text = builder.whole
    }
}

/// Splits a text into words.
package struct WordBuilder {
    private enum State {
        case between
        case word
        /// In a run of letters without spaces, after one of them.
        case run(last: Unicode.Scalar, isFirst: Bool)
    }

    private var scalars = String.UnicodeScalarView()
    private var state = State.between

    package init() {}

    package mutating func add(_ text: String) {
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            guard let held = last else {
                last = scalar
                continue
            }
            if let syllable = Self.syllable(held, scalar) {
                last = syllable
            } else {
                add(held)
                last = scalar
            }
        }
        if let last { add(last) }
    }

    /// The words, each after a space, and a space at the end.
    var whole: String {
        var ended = self
        ended.end()
        return String(ended.scalars) + " "
    }

    /// The words to look for, each after a space; with a space at the end unless the last word is
    /// only the beginning of one. Empty if there is no word.
    ///
    /// - Parameter isPrefix: Whether the last word stands for all that begin with it.
    package func pattern(isPrefix: Bool) -> String {
        switch state {
        case .between: scalars.isEmpty ? "" : String(scalars) + " "
        case .word: String(scalars) + (isPrefix ? "" : " ")
        // A single letter begins a pair, or is the last of a run.
        case .run(let last, isFirst: true): String(scalars) + " " + String(last)
        case .run: String(scalars) + " "
        }
    }

    private mutating func add(_ scalar: Unicode.Scalar) {
        switch SearchLetter(scalar) {
        case .word:
            if case .word = state {} else { begin(.word) }
            fold(scalar)
        case .run:
            if case .run(let last, _) = state {
                scalars.append(contentsOf: [" ", last, scalar])
                state = .run(last: scalar, isFirst: false)
            } else {
                end()
                state = .run(last: scalar, isFirst: true)
            }
        case .mark:
            if case .word = state { scalars.append(scalar) }
        case .invisible: break
        case .separator: end()
        }
    }

    private mutating func begin(_ next: State) {
        end()
        scalars.append(" ")
        state = next
    }

    private mutating func end() {
        if case .run(let last, _) = state { scalars.append(contentsOf: [" ", last]) }
        state = .between
    }

    /// Adds a letter without case and accents, or a digit.
    private mutating func fold(_ scalar: Unicode.Scalar) {
        guard !scalar.isASCII else {
            let isUpper = ("A"..."Z").contains(scalar)
            return scalars.append(isUpper ? Unicode.Scalar(UInt8(scalar.value) | 32) : scalar)
        }
        // Some letters have several small forms of one capital letter, such as σ and ς.
        let upper = scalar.properties.uppercaseMapping.unicodeScalars
        let single = upper.count == 1 ? upper.first ?? scalar : scalar
        for lower in single.properties.lowercaseMapping.unicodeScalars
        where SearchLetter(lower) != .invisible {
            scalars.append(Self.plainLetters[lower] ?? lower)
        }
    }

    /// The letters of the Latin, Greek and Cyrillic scripts that have accents, by their canonical
    /// decompositions: in each group, those after the first one are that letter with accents.
    private static let plainLetters: [Unicode.Scalar: Unicode.Scalar] = {
        let groups = """
            aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ cçćĉċčḉ dďḋḍḏḑḓ
            eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ
            lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ
            sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ
            zźżžẑẓẕ æǣǽ øǿ ʒǯ αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲέ ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ
            ιΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ οόὀὁὂὃὄὅὸό ρῤῥ υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ
            аӑӓ гѓ еѐёӗ жӂӝ зӟ ийѝӣӥ кќ оӧ уўӯӱӳ чӵ ыӹ эӭ ѵѷ ії әӛ өӫ
            """
        var letters: [Unicode.Scalar: Unicode.Scalar] = [:]
        for group in groups.split(whereSeparator: \.isWhitespace) {
            guard let plain = group.unicodeScalars.first else { continue }
            for letter in group.unicodeScalars.dropFirst() { letters[letter] = plain }
        }
        return letters
    }()

    /// The Hangul syllable that a letter completes after another, or after a syllable; see
    /// section 3.12 of the Unicode Standard.
    private static func syllable(
        _ first: Unicode.Scalar, _ second: Unicode.Scalar
    ) -> Unicode.Scalar? {
        switch (first.value, second.value) {
        case (0x1100...0x1112, 0x1161...0x1175):
            Unicode.Scalar(0xAC00 + ((first.value - 0x1100) * 21 + second.value - 0x1161) * 28)
        case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (first.value - 0xAC00) % 28 == 0:
            Unicode.Scalar(first.value + second.value - 0x11A7)
        default: nil
        }
    }
}

/// What a character is in a search.
enum SearchLetter {
    /// A letter or digit of a word.
    case word
    /// A letter of a script without spaces between words, or a syllable.
    case run
    /// A sign that belongs to the letter before it, such as a vowel of Devanagari.
    case mark
    /// An accent, or a character that has no form of its own.
    case invisible
    case separator

    init(_ scalar: Unicode.Scalar) {
        guard !scalar.isASCII else {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": self = .word
            default: self = .separator
            }
            return
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .letterNumber:
            self = Self.isUnspaced(scalar) ? .run : .word
        case .decimalNumber, .otherNumber, .privateUse: self = .word
        case .nonspacingMark, .spacingMark:
            if Self.isUnspaced(scalar) {
                self = .run
            } else if properties.isVariationSelector {
                self = .invisible
            } else {
                let combiningClass = properties.canonicalCombiningClass
                let isSpelling = combiningClass == .notReordered || combiningClass == .virama
                self = isSpelling ? .mark : .invisible
            }
        case .enclosingMark, .format: self = .invisible
        default: self = .separator
        }
    }

    private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0xE00 && unspaced.contains { $0.contains(scalar.value) }
    }

    /// The blocks of scripts without spaces between words, and of Hangul; see
    /// <https://www.unicode.org/Public/UCD/latest/ucd/Blocks.txt>.
    private static let unspaced: [ClosedRange<UInt32>] = [
        // Chinese and Japanese, Hangul, Yi.
        0x3000...0xA4CF, 0xAC00...0xD7FF, 0x1100...0x11FF, 0xA960...0xA97F, 0xF900...0xFAFF,
        0xFF66...0xFFDC, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFF,
        // Thai and Lao, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet.
        0xE00...0xEFF, 0x1000...0x109F, 0xA9E0...0xA9FF, 0xAA60...0xAADF, 0x1780...0x17FF,
        0x1950...0x19DF, 0x1A20...0x1AAF,
    ]
}
