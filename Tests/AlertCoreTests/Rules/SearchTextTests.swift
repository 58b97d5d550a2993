import AlertCore
import TestSupport
import Testing

@Suite("Search texts", .inParallel)
struct SearchTextTests {
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
