/// What a terminal was sent, read byte by byte: only alertq's own sequences and harmless text pass.
enum TerminalBytes {
    /// Where the bytes were going.
    enum Context {
        /// A terminal's screen.
        case screen
        /// A pipe or a file, whose reader may be a terminal in the end: no sequence at all.
        case text
        /// JSON, whose readers are programs: invisible characters are theirs to handle.
        case json
    }

    /// The sequences that alertq sends itself, without their ESC: those that the presenter's screen
    /// is made of, and emphasis.
    private static let sequences: Set<String> = [
        "[?7l", "[?7h", "[?25l", "[?25h", "[?2004h", "[?2004l", "[2K", "[J", "[L",
        "[0m",
    ]

    /// Everything that should not be there, with its position.
    static func additions(in bytes: some Sequence<UInt8>, _ context: Context) -> [String] {
        var rest = Array(bytes)[...]
        var additions: [String] = []
        var marks = 0
        var previous: Unicode.Scalar?
        func report(_ what: String) {
            let context = String(decoding: rest.prefix(20), as: UTF8.self).debugDescription
            additions.append("\(what) before \(context)")
        }
        while !rest.isEmpty {
            if rest.first == 0x1B, context == .screen {
                rest.removeFirst()
                if let sequence = sequence(&rest) { report("ESC \(sequence)") }
                continue
            }
            guard let scalar = scalar(&rest) else {
                let byte = rest.removeFirst()
                report("the byte \(String(byte, radix: 16))")
                continue
            }
            marks = isMark(scalar) ? marks + 1 : 0
            if !isHarmless(scalar, after: previous, context) {
                report("U+\(String(scalar.value, radix: 16, uppercase: true))")
            } else if marks > 4, context != .json {
                report("the mark \(marks) on one letter")
                marks = 0
            }
            previous = scalar
        }
        return additions
    }

    /// Takes a sequence; returns it if it is not one of alertq's.
    private static func sequence(_ rest: inout ArraySlice<UInt8>) -> String? {
        var text = ""
        while let byte = rest.first, (0x20..<0x7F).contains(byte), text.count < 16 {
            text.unicodeScalars.append(Unicode.Scalar(byte))
            rest.removeFirst()
            if text.count > 1, (0x40...0x7E).contains(byte) { break }
            if text.first != "[" { break }
        }
        let isOurs =
            sequences.contains(text)
            // Up by some lines, and bold, dim, inverse, red and green.
            || text.wholeMatch(of: /\[[1-9][0-9]*A/) != nil
            || text.wholeMatch(of: /\[(1|2|7|31|32)(;(1|2|7|31|32))*m/) != nil
        return isOurs ? nil : text
    }

    /// Takes one character of well-formed UTF-8; see the Unicode Standard, table 3-7.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = rest.first else { return nil }
        let length =
            switch first {
            case 0x00...0x7F: 1
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        guard length > 0, let text = String(validating: rest.prefix(length), as: UTF8.self),
            text.unicodeScalars.count == 1, let scalar = text.unicodeScalars.first
        else { return nil }
        rest.removeFirst(length)
        return scalar
    }

    private static func isHarmless(
        _ scalar: Unicode.Scalar, after previous: Unicode.Scalar?, _ context: Context
    ) -> Bool {
        switch scalar.value {
        case 0x0A: return true
        case 0x0D: return context == .screen
        case 0x09: return context == .text  // Between the columns of a table.
        case 0x20..<0x7F: return true
        case 0..<0xA0: return false
        case 0x200D where context == .json: return true
        case _ where context == .json: break
        // These modify the emoji before them.
        case 0x200D, 0xFE0E, 0xFE0F: return previous?.properties.isEmoji == true
        case 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x2800, 0x3164, 0xFFA0,
            0xFE00...0xFE0F, 0xE0000...0xE0FFF:
            return false
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return false
        case .surrogate, .privateUse, .unassigned: return context == .json
        default: return true
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }
}
