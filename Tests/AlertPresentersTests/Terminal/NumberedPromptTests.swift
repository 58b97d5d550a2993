import AlertCore
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Numbered prompt", .inParallel)
struct NumberedPromptTests {
    static let prompt = NumberedPrompt(
        Alert("Delete?", buttons: [.destructive("Delete it"), "Archive", .cancel("Keep")]),
        laterOptions: [.init(title: "5 min"), .init(title: "1 h", duration: .seconds(3600))])

    @Test(
        "A line chooses what it names",
        arguments: [
            ("1", .button(0)),
            (" 2 \r", .button(1)),
            ("keep", .button(2)),
            ("l", .later(nil)),
            ("L2", .later(.seconds(3600))),
            ("", nil), ("4", nil), ("0", nil), ("-1", nil), ("l3", nil),
            ("yes", nil), ("\u{1B}[A1", nil),
        ] as [(String, PresenterChoice?)])
    func reads(line: String, choice: PresenterChoice?) {
        #expect(Self.prompt.read(line) == choice)
    }

    @Test("The choices are listed with what to type for them")
    func lines() {
        let lines = Self.prompt.lines(facts: ["backup (ana)"], columns: 40)
        #expect(
            lines == [
                "Delete?", "backup (ana)", "  1)  Delete it (destructive)",
                "  2)  Archive", "  3)  Keep",
                "  l)  later: 5 min", "  l2) later: 1 h",
            ])
    }
}
