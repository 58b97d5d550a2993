import AlertCore
import TestSupport
import Testing
import TextFormats

@testable import alertq

@Suite("Texts of a locale", .inParallel)
struct LocaleTextTests {
    /// Each error, note and table line may have any of these.
    @Test("Every sign in the command's help has a stand-in")
    func help() {
        for verb in Verbs.all {
            let text = TerminalCharacters.ascii.ours(Help.text(for: verb, columns: 80))
            #expect(text.utf8.allSatisfy { $0 < 0x80 } && !text.contains("<U+"), "\(verb.name)")
        }
    }
}
