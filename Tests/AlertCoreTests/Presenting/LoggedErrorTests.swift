import AlertCore
import TestSupport
import Testing

@testable import AlertCore

@Suite("What the log keeps of errors", .inParallel)
struct LoggedErrorTests {
    private struct Refused: Error, CustomStringConvertible {
        let description = "“4711” is no name"
    }

    @Test(
        "The rule that was broken, and no text",
        arguments: [
            (AlertError.invalid("value of “4711”", "is for no field"), "the alert offers"),
            (AlertError.noSuchButton(1, button: "4711", known: ["4711"]), "the alert offers"),
            (AlertError.keyConflict("4711", 1, part: "title"), "the queue refused it"),
            (AlertError.storage(operation: "write", "the disk is full"), "the disk is full"),
            (Refused(), "the presenter failed: Refused"),
        ] as [(any Error, String)])
    func kept(error: any Error, words: String) {
        guard case .failed(let text) = EntryDetail.Return.failed(error) else { return }
        #expect(text.hasSuffix(words) && !text.contains("4711"), "\(text)")
    }
}
