/// Text as a POSIX shell reads it.
package enum ShellText {
    /// One word of a command line, which survives being printed and pasted.
    package static func quoted(_ word: String) -> String {
        guard SafeText.line(word).isIdentical(to: word) else { return escaped(word) }
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "_", ".", "-", "/", ":", "@", "+", ",": true
            default: false
            }
        }
        if isPlain, !word.isEmpty { return word }
        // Within single quotes only the quote itself means anything.
        return "'" + word.replacingScalars(["'": "'\\''"]) + "'"
    }

    /// A whole command line.
    package static func line(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    /// A word with control characters, in dollar-single-quotes (POSIX.1-2024, Shell Command
    /// Language, 2.2.4): bash, zsh and ksh read them, dash does not.
    private static func escaped(_ word: String) -> String {
        let characters = word.utf8.map { byte in
            switch Unicode.Scalar(byte) {
            case "'", "\\": return "\\" + String(Unicode.Scalar(byte))
            case "\n": return "\\n"
            case " "..."~": return String(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 8)
                return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return "$'" + characters.joined() + "'"
    }
}
