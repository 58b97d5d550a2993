import AlertQueue
import Testing

@testable import AlertPresenters

@Suite("Numbered prompt")
struct NumberedPromptTests {
    static let prompt = NumberedPrompt(
        Alert("Delete?", buttons: [.destructive("Delete it"), "Archive", .cancel("Keep")]),
        laterOptions: [.init(title: "5 min"), .init(title: "1 h", duration: .seconds(3600))])

    @Test(
        "A line chooses what it names",
        arguments: [
            ("1", .choice(.button(0), isDestructive: true)),
            (" 2 \r", .choice(.button(1), isDestructive: false)),
            ("keep", .choice(.button(2), isDestructive: false)),
            ("l", .choice(.later(nil), isDestructive: false)),
            ("L2", .choice(.later(.seconds(3600)), isDestructive: false)),
            ("", .unclear), ("4", .unclear), ("0", .unclear), ("-1", .unclear), ("l3", .unclear),
            ("yes", .unclear), ("\u{1B}[A1", .unclear),
        ] as [(String, NumberedPrompt.Reading)])
    func reads(line: String, reading: NumberedPrompt.Reading) {
        #expect(Self.prompt.read(line) == reading)
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
