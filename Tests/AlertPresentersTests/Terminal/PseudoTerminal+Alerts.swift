import TestSupport
import Testing

@testable import AlertPresenters

extension PseudoTerminal {
    var screen: ScreenModel { ScreenModel(bytes, columns: columns) }

    /// Waits until a text has been written.
    func wait(for text: String, _ location: SourceLocation = #_sourceLocation) async throws {
        try await wait("“\(text)” to be written", location) { self.text.contains(text) }
    }

    /// Waits until something holds; the test fails if it takes a minute.
    func wait(
        _ what: String, _ location: SourceLocation = #_sourceLocation, until isTrue: () -> Bool
    ) async throws {
        let holds = try await eventually {
            try Task.checkCancellation()
            return isTrue()
        }
        guard holds else {
            let shown = screen.lines.joined(separator: "\n")
            Issue.record(
                "waited in vain for \(what); the screen:\n\(shown)", sourceLocation: location)
            throw CancellationError()
        }
    }
}
