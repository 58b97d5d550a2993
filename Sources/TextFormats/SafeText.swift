import FoundationEssentials

/// Text from outside, made harmless for a terminal or a log, visibly.
///
/// Characters that could move the cursor, hide text or reverse it are replaced by visible ones: C0
/// controls by their Unicode control pictures, all others by their code points, such as `⟨U+202E⟩`.
/// The rule follows Unicode's general categories (UAX #44) and the bidirectional controls of UAX
/// #9; joiners are kept between letters if the script needs them (UAX #31, A1 to B).
///
/// Titles, messages and labels are what people write to each other, and keep more of what their
/// languages need: see ``title(_:)``. Names, paths and commands don't: two of them that look the
/// same should be the same.
package enum SafeText {
    /// A text of one line: line breaks and tabs are shown too.
    package static func line(_ text: String) -> String {
        shown(text, isProse: false, keepsLineBreaks: false)
    }

    /// A text of several lines: only its line feeds are kept.
    package static func lines(_ text: String) -> String {
        shown(text, isProse: false, keepsLineBreaks: true)
    }

    /// A title or a label, on one line, as its readers write it.
    ///
    /// Where a script needs them, characters without a width are kept: spaces of that kind between
    /// words of Khmer, Thai, Lao or Burmese, the joiners of Bengali and Malayalam, the tags of a
    /// flag. A soft hyphen between letters is left out.
    package static func title(_ text: String) -> String {
        shown(text, isProse: true, keepsLineBreaks: false)
    }

    /// A message, as its readers write it: like ``title(_:)``, with its line feeds.
    package static func message(_ text: String) -> String {
        shown(text, isProse: true, keepsLineBreaks: true)
    }

    /// A text in which each character that only ``title(_:)`` would keep or leave out is visible:
    /// for what is said on behalf of a program, and must be read as the program wrote it.
    package static func revealed(_ text: String) -> String {
        var result = ""
        for (scalar, fate) in fates(in: text, isProse: true) {
            switch fate {
            case .shown, .replaced: result.unicodeScalars.append(scalar)
            case .keptInProse, .leftOutInProse: result += standIn(scalar)
            }
        }
        return result
    }

    private enum Fate {
        case shown
        case replaced
        /// Replaced, except in prose.
        case keptInProse
        case leftOutInProse
    }

    private static func shown(
        _ text: String, isProse: Bool, keepsLineBreaks: Bool
    ) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var result = ""
        for (scalar, fate) in fates(in: text, isProse: isProse) {
            switch fate {
            case .shown: result.unicodeScalars.append(scalar)
            case .keptInProse where isProse: result.unicodeScalars.append(scalar)
            case .leftOutInProse where isProse: break
            case _ where keepsLineBreaks && scalar == "\n": result.unicodeScalars.append(scalar)
            default: result += standIn(scalar)
            }
        }
        return result
    }

    private static func fates(
        in text: String, isProse: Bool
    ) -> [(scalar: Unicode.Scalar, fate: Fate)] {
        let scalars = Array(text.unicodeScalars)
        /// The last scalar that is shown; `nil` after a visible stand-in.
        var previous: Unicode.Scalar?
        var marks = 0
        var joiners = 0
        var flagEnd = 0
        return scalars.indices.map { index in
            let scalar = scalars[index]
            marks = isMark(scalar) ? marks + 1 : 0
            if scalar == "\u{200D}" {
                joiners += 1
            } else if joiners > 0, previous != "\u{200D}", scalar != "\u{FE0F}",
                !scalar.properties.isEmojiModifier
            {
                joiners = 0
            }
            let next = index + 1 < scalars.count ? scalars[index + 1] : nil
            // A stack of marks would spill over into the lines around it, and some terminals show
            // the emoji of a sequence one after another.
            let isShown =
                marks <= 4 && joiners <= 3
                && (isHarmless(scalar, after: previous)
                    || isJoiner(scalar, between: previous, and: next))
            if isShown, scalar == Self.flag { flagEnd = endOfFlag(in: scalars, at: index) }
            var fate = isShown ? Fate.shown : .replaced
            if !isShown {
                if index < flagEnd || isNeeded(in: scalars, at: index, after: previous) {
                    fate = .keptInProse
                } else if scalar == "\u{AD}", previous.map(isLetter) == true,
                    next.map({ isLetter($0) && !isMark($0) }) == true
                {
                    fate = .leftOutInProse
                }
            }
            switch fate {
            case .shown: previous = scalar
            case .keptInProse where isProse: previous = scalar
            case .leftOutInProse where isProse: break
            default:
                previous = nil
                joiners = 0
            }
            return (scalar, fate)
        }
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

    /// Whether the script around a character without a width needs it there.
    private static func isNeeded(
        in scalars: [Unicode.Scalar], at index: Int, after previous: Unicode.Scalar?
    ) -> Bool {
        // What comes before must be shown itself.
        guard index > 0, previous == scalars[index - 1] else { return false }
        let after = scalars[(index + 1)...]
        switch scalars[index] {
        case "\u{200B}":
            // Marks after it would join the stack of those before it.
            return isWithoutSpaces(scalars[index - 1])
                && after.first.map { isWithoutSpaces($0) && !isMark($0) } == true
        case "\u{200D}":
            if isVirama(scalars[index - 1]) {
                // A half form or a final one, but not in the middle of a syllable.
                return endsInLetter(scalars[..<(index - 1)])
                    && after.first.map { !isMark($0) && !isJoinerItself($0) && !isSpacingMark($0) }
                        != false
            }
            // A letter that keeps its form before the next one joins it.
            return endsInLetter(scalars[..<index]) && after.first.map(isVirama) == true
                && after.dropFirst().first?.properties.generalCategory == .otherLetter
        default: return false
        }
    }

    /// Whether a text ends in a letter of a script without upper and lower case, or its nukta.
    private static func endsInLetter(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
        scalars.last { $0.properties.canonicalCombiningClass != .nukta }?
            .properties.generalCategory == .otherLetter
    }

    private static func isVirama(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.canonicalCombiningClass == .virama
    }

    private static func isJoinerItself(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\u{200C}" || scalar == "\u{200D}"
    }

    private static func isSpacingMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .spacingMark
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || isMark(scalar)
    }

    /// Whether it belongs to a script that is written without spaces between words: those of Thai,
    /// Lao, Burmese, Khmer, the Tai languages, Balinese and Javanese.
    private static func isWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x1950...0x19DF, 0x1A20...0x1AAF,
            0x1B00...0x1B7F, 0xA980...0xA9FF, 0xAA60...0xAADF:
            true
        default: false
        }
    }

    private static let flag: Unicode.Scalar = "\u{1F3F4}"

    /// The end of the tags that make a black flag that of a region: its country's code, that of its
    /// subdivision, and the end of the sequence; the flag's own index if they don't. See UTS #51,
    /// annex C.
    private static func endOfFlag(in scalars: [Unicode.Scalar], at index: Int) -> Int {
        let tags = scalars[(index + 1)...].prefix(7)
        let code = tags.prefix { $0 != "\u{E007F}" }
        let isCode = { (tag: Unicode.Scalar) in
            (0xE0061...0xE007A).contains(tag.value) || (0xE0030...0xE0039).contains(tag.value)
        }
        guard tags.count > code.count, code.count >= 3, code.allSatisfy(isCode),
            code.prefix(2).allSatisfy({ $0.value >= 0xE0061 })
        else { return index }
        return code.endIndex + 1
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
        default: "⟨" + codePoint(scalar) + "⟩"
        }
    }

    /// A code point as Unicode writes it: `U+202E`.
    package static func codePoint(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
