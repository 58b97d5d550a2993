import TestSupport
import Testing

@testable import AlertPresenters

extension PseudoTerminal {
    var screen: ScreenModel { ScreenModel(bytes, columns: columns) }

    /// Types as a person would, one key after the other, once an alert takes keys.
    func type(
        _ text: String, after appeared: Flag, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await waitUntilLive(appeared, location)
        try await type(slowly: text)
    }

    /// Types one key after the other, with longer pauses than in a paste or with a key held down.
    func type(slowly text: String) async throws {
        for key in text.matches(of: /\u{1B}(\[[0-9;]*[A-Z~]|O.)?|[^\u{1B}]/) {
            try type(String(key.output.0))
            try await Task.sleep(for: KeyGate.repeatGap + .milliseconds(20))
        }
    }

    /// Waits until an alert takes keys: its last line then lists them.
    func waitUntilLive(
        _ appeared: Flag, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await wait("the alert", location) { appeared.isSet }
        try await wait("the alert to take keys", location, each: .milliseconds(25)) {
            let lines = screen.lines
            let hint = lines.last ?? ""
            return !hint.isEmpty && !hint.hasPrefix("stop") && lines.first != "Too small: make it"
        }
    }

    /// Waits until a text has been written.
    func wait(for text: String, _ location: SourceLocation = #_sourceLocation) async throws {
        try await wait("“\(text)” to be written", location) { self.text.contains(text) }
    }

    /// Waits until something holds; the test fails if it takes 10 seconds.
    func wait(
        _ what: String, _ location: SourceLocation = #_sourceLocation,
        each pause: Duration = .milliseconds(2), until isTrue: () -> Bool
    ) async throws {
        let holds = try await eventually(within: .seconds(10), each: pause) {
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
