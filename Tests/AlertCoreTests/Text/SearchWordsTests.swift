import TestSupport
import Testing

@testable import AlertCore

@Suite("Search words", .inParallel)
struct SearchWordsTests {
    @Test(
        "Words have no case and no accents, and everything but letters and digits separates them",
        arguments: [
            ("", " "), ("?!", " "), ("Prune old-snapshots, now", " prune old snapshots now "),
            ("Größe NAÏVE", " große naive "), ("e\u{301}Ế", " ee "), ("İI ıx", " ii ix "),
            ("Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", " οδυσσευσ οδυσσευσ "), ("Ёй", " еи "), ("x² 42", " x² 42 "),
            ("co\u{AD}op\u{200D}e", " coope "), ("1\u{FE0F}\u{20E3}", " 1 "), ("हिन्दी", " हिन्दी "),
            ("كَتَبَ", " كتب "), ("a_b", " a b "), ("👍🏽", " "),
        ])
    func words(text: String, words: String) {
        #expect(SearchWords(of: text).text == words)
    }

    @Test(
        "A run of letters without spaces becomes its pairs and its last letter",
        arguments: [
            ("备份失败", " 备份 份失 失败 败 "), ("备", " 备 "), ("SQL备份x", " sql 备份 份 x "),
            ("カー。ト", " カー ー ト "), ("กล้", " กล ล้ ้ "), ("한국 가", " 한국 국 가 "),
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1161}", " 한가 가 "),
        ])
    func runs(text: String, words: String) {
        #expect(SearchWords(of: text).text == words)
    }

    @Test("Any part of a run is found, and nothing else")
    func parts() throws {
        var random = TestRandom()
        for letters in ["备份夜间", "กลวย้", "한가각국", "ខ្មែរ", "မြန်"] {
            let scalars = Array(letters.unicodeScalars)
            let text = { (length: Int) in
                var text = String.UnicodeScalarView()
                for _ in 0..<length {
                    text.append(scalars[Int.random(in: scalars.indices, using: &random)])
                }
                return text
            }
            for _ in 0..<200 {
                let (whole, part) = (text(8), text(Int.random(in: 1...4, using: &random)))
                let isPart = Array(whole).indices.contains {
                    Array(whole).dropFirst($0).starts(with: part)
                }
                let alert = Alert(String(whole))
                let search = try SearchText(String(part))
                #expect(
                    search.matches(SearchableText(alert)) == isPart, "\(part) in \(whole)")
            }
        }
    }

    @Test("The words of a phrase must be in one text")
    func phrase() throws {
        let text = SearchableText(
            Alert("old", message: "snapshots", buttons: ["Prune now", .cancel("Keep")]))
        #expect(try !SearchText("\"old snapshots\"").matches(text))
        #expect(try SearchText("old snapshots").matches(text))
        #expect(try SearchText("\"prune n\"* keep").matches(text))
        #expect(try !SearchText("prun").matches(text))
    }
}
