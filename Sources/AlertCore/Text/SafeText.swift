import FoundationEssentials

/// Text from outside, made harmless for a terminal or a log, visibly.
///
/// Characters that could move the cursor, hide text or reverse it are replaced by visible ones: C0
/// controls by their Unicode control pictures, all others by their code points, such as `⟨U+202E⟩`.
/// The rule follows Unicode's general categories (UAX #44) and the bidirectional controls of UAX
/// #9; joiners are kept between letters if the script needs them (UAX #31, A1 to B).
package enum SafeText {
    /// A text of one line: line breaks and tabs are shown too.
    package static func line(_ text: String) -> String {
        neutralised(text, keepsLineBreaks: false)
    }

    /// A text of several lines: only its line feeds are kept.
    package static func lines(_ text: String) -> String {
        neutralised(text, keepsLineBreaks: true)
    }

    private static func neutralised(_ text: String, keepsLineBreaks: Bool) -> String {
        var result = ""
        var previous: Unicode.Scalar?
        var marks = 0
        var joiners = 0
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            marks = isMark(scalar) ? marks + 1 : 0
            if scalar == "\u{200D}" {
                joiners += 1
            } else if joiners > 0, previous != "\u{200D}", scalar != "\u{FE0F}",
                !scalar.properties.isEmojiModifier
            {
                joiners = 0
            }
            // A stack of marks would spill over into the lines around it, and some terminals show
            // the emoji of a sequence one after another.
            let isShown =
                marks <= 4 && joiners <= 3
                && (isHarmless(scalar, after: previous)
                    || isJoiner(scalar, between: previous, and: rest.first))
            if isShown || (keepsLineBreaks && scalar == "\n") {
                result.unicodeScalars.append(scalar)
            } else {
                result += standIn(scalar)
                joiners = 0
            }
            previous = result.unicodeScalars.last
        }
        return result
    }

    private static func isHarmless(
        _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?
    ) -> Bool {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
            .paragraphSeparator:
            // The joiner holds emoji families together; elsewhere it is only invisible.
            return scalar == "\u{200D}" && previous.map(isEmoji) == true
        default:
            // A skin tone changes the emoji before it, and nothing else.
            if scalar.properties.isEmojiModifier, let previous {
                return !previous.properties.isEmojiModifier
            }
            // The variation selectors of emoji and text only change the character before them.
            if scalar == "\u{FE0F}" || scalar == "\u{FE0E}" {
                return previous.map(isSymbol) == true
            }
            return !isInvisible(scalar)
        }
    }

    /// Whether it controls how the letters next to it are joined.
    private static func isJoiner(
        _ scalar: Unicode.Scalar, between previous: Unicode.Scalar?, and next: Unicode.Scalar?
    ) -> Bool {
        guard scalar == "\u{200C}" || scalar == "\u{200D}", let previous, let next,
            next.properties.generalCategory == .otherLetter
        else { return false }
        // Arabic, Syriac and their neighbours; after a virama, the scripts of India.
        let isCursive: (Unicode.Scalar) -> Bool = { (0x0600...0x08FF).contains($0.value) }
        return previous.properties.canonicalCombiningClass == .virama
            || (isCursive(previous) && isCursive(next))
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }

    private static func isSymbol(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji
    }

    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{FE0F}" || (scalar.properties.isEmoji && !scalar.isASCII)
    }

    /// Letters and marks that are invisible: fillers, the braille blank, the grapheme joiner.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x2800, 0x3164, 0xFFA0,
            0xFE00...0xFE0F, 0xE0100...0xE01EF:
            true
        default: false
        }
    }

    private static func standIn(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x00...0x1F: Unicode.Scalar(0x2400 + scalar.value).map { String($0) } ?? "�"
        case 0x7F: "␡"
        default: "⟨U+" + paddedHex(scalar.value) + "⟩"
        }
    }

    private static func paddedHex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
