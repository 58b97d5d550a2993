import TestSupport
import Testing

@testable import TextFormats

@Suite("Patterns of fields", .inParallel)
struct TextPatternTests {
    @Test(
        "A pattern matches what JSON Schema says",
        arguments: [
            ("^a+$", ["a", "aaa"], ["", "b", "aab", "a\n"]),
            ("b", ["b", "abc"], ["", "ac"]),
            ("", ["", "x"], []),
            ("^(ab|c)*$", ["", "ab", "cab", "abab"], ["a", "abb"]),
            ("^[A-Za-z0-9_.-]{2,4}$", ["ab", "a.b-"], ["a", "abcde", "a b"]),
            ("^[^0-9]$", ["a", "é", "\n"], ["1", ""]),
            ("^\\d{4}-\\d{2}$", ["2026-11"], ["26-11", "2026-1", "２０２６-11"]),
            ("^\\w+\\s\\S$", ["ab x", "a\tx"], ["a b c", "a x "]),
            ("^.$", ["a", "😀"], ["\n", "", "ab"]),
            ("^(?:a|b)?c$", ["c", "ac", "bc"], ["abc"]),
            ("^\\u00e9\\u{1F600}$", ["é😀"], ["é"]),
            ("^[\\d\\-]+$", ["1-2"], ["a"]),
            ("^\\{\\}\\[\\]\\/\\\\$", ["{}[]/\\"], [""]),
            ("a{0}b{2}c{1,}", ["bbc", "xbbcc"], ["abc"]),
            ("^a*?b$", ["b", "aab"], ["a"]),
            ("x$|^y", ["ax", "ya"], ["xa", "ay"]),
            ("[]", [], ["", "a"]), ("[^]", ["a"], [""]),
            ("^\\p{L}+$", ["aé", "Ω東", "ß"], ["", "a1", "a b", "e\u{301}", "_"]),
            ("^\\p{Lu}\\p{Lowercase_Letter}*$", ["Zoé", "Ñ"], ["zoé", "ZO"]),
            ("^[\\p{L}\\p{M}\\p{Nd} '-]+$", ["Zoe\u{301} d'A-1", "٣"], ["a_b", "½"]),
            ("^\\P{L}$", ["1", " "], ["a", "é"]), ("^[^\\p{L}\\d]$", ["-"], ["a", "1"]),
            ("^[\\P{Letter}x]$", ["1", "x"], ["y"]), ("^\\p{gc=Sc}$", ["€", "$"], ["e"]),
            ("^\\p{LC}\\p{Alphabetic}\\p{White_Space}$", ["aª "], ["ªa ", "aa-"]),
        ] as [(String, [String], [String])])
    func matches(pattern: String, these: [String], those: [String]) throws {
        let compiled = try TextPattern(pattern)
        for text in these {
            #expect(compiled.matches(text), "\(pattern) and \(text.debugDescription)")
        }
        for text in those {
            #expect(!compiled.matches(text), "\(pattern) and \(text.debugDescription)")
        }
    }

    @Test(
        "What can't be matched in one pass is refused, with a reason",
        arguments: [
            ("(a", "has a group that doesn't end"), ("a)", "has a “)” without a “(”"),
            ("*a", "has a “*” where a character is expected; write “\\*”"),
            ("a**", "repeats a repetition"), ("^*", "repeats “^” or “$”"),
            ("[a", "has a “[” without a “]”"),
            ("[z-a]", "has a range in “[…]” whose ends are not in order"),
            ("(?=a)", "has a group with “(?”; only (…) and (?:…) are possible"),
            ("(a)\\1", "has “\\1”, which is not possible here"),
            ("\\bword", "has “\\b”, which is not possible here"),
            ("a{2,1}", "has a repetition that is not {N}, {N,} or {N,M}, up to 256"),
            ("a{", "has a “{” that begins no repetition"), ("a\\", "ends with a backslash"),
            ("\\uD800", "has a “\\u” without the code of a character"),
            ("((a{99}){99}){99}", "repeats too much: it has more than 500 steps"),
            ("(((((){256}){256}){256}){256}){256}", "repeats too much: it has more than 500 steps"),
            ("\\pL", "has a “\\p” without a name in braces, as in “\\p{L}”"),
            (
                "\\p{Script=Latin}",
                "has “\\p{Script=Latin}”, which is neither a general category of Unicode's, such "
                    + "as L, Lu or Nd, nor Alphabetic, Uppercase, Lowercase, White_Space, Emoji or "
                    + "Any"
            ),
            ("[a-\\p{L}]", "has a range in “[…]” whose ends are not in order"),
            ("\\u+041", "has a “\\u” without the code of a character"),
            (
                "a{5,99999999999999999999}",
                "has a repetition that is not {N}, {N,} or {N,M}, up to 256"
            ),
            (String(repeating: "a", count: 257), "is longer than 256 bytes"),
            (String(repeating: "(", count: 40), "has more than 32 groups in one another"),
        ])
    func refused(pattern: String, reason: String) {
        #expect { _ = try TextPattern(pattern) } throws: {
            ($0 as? TextPattern.Invalid)?.reason == reason
        }
    }

    @Test("A pattern for which others go back takes no longer than the text")
    func isLinear() throws {
        let text = String(repeating: "a", count: 4000) + "!"
        #expect(try !TextPattern("^(a+)+$").matches(text))
        #expect(try !TextPattern("^(a|aa)+$").matches(text))
        #expect(try !TextPattern("^(a*)*(a*)*b").matches(text))
    }

    @Test("Random patterns match what Swift's own expressions match")
    func agreesWithSwift() throws {
        var (random, compared) = (TestRandom(), 0)
        for _ in 0..<300 {
            let pattern = Self.pattern(depth: 3, &random)
            guard let compiled = try? TextPattern(pattern), let regex = try? Regex(pattern) else {
                continue
            }
            compared += 1
            for _ in 0..<8 {
                let letters = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    "abc".randomElement(using: &random) ?? "a"
                }
                let isMatch = String(letters).firstMatch(of: regex) != nil
                #expect(compiled.matches(String(letters)) == isMatch, "\(pattern) in \(letters)")
            }
        }
        #expect(compared > 100)
    }

    private static func pattern(
        depth: Int, _ random: inout some RandomNumberGenerator
    ) -> String {
        let leaf = ["a", "b", "c", ".", "[ab]", "[^a]", "\\w"].randomElement(using: &random) ?? "a"
        guard depth > 0 else { return leaf }
        let next = pattern(depth: depth - 1, &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return leaf + next
        case 1: return "(\(next)|\(leaf))"
        case 2: return "(?:\(next))*" + leaf
        case 3: return "(\(next))+"
        case 4: return "(\(next))?" + leaf
        case 5: return "(\(next)){1,2}"
        case 6: return "^" + next
        default: return next + "$"
        }
    }
}
