import Foundation
import Testing

@testable import alertq

/// The page about exit codes has an entry for each, and names commands that exist.
@Suite("Troubleshooting")
struct TroubleshootingTests {
    private let text: String

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = "Sources/AlertQueue/AlertQueue.docc/Troubleshooting.md"
        text = try String(contentsOfFile: "/\(root)/\(page)", encoding: .utf8)
    }

    @Test("Every exit code has an entry with its number, in order, and no other number has one")
    func codes() {
        let numbers = text.matches(of: /(?m)^### (\d+): \S/).compactMap { Int32($0.1) }
        #expect(numbers == ExitCode.allCases.map(\.rawValue))
    }

    @Test("Every command of the page can be parsed")
    func commands() throws {
        let spans = text.matches(of: /`(alertq [^`]*)`/).map { String($0.1) }
        let lines = text.matches(of: /(?m)^(alertq .*)$/).map { String($0.1) }
        #expect(spans.count >= 25 && !lines.isEmpty)
        for command in spans + lines { #expect(throws: Never.self) { try parse(command) } }
    }

    @Test("A command that can't be parsed is found", arguments: ["alertq lsit", "alertq show"])
    func negativeControl(command: String) {
        #expect(throws: (any Error).self) { try parse(command) }
    }

    /// Parses a command line as a shell would pass it: up to what follows it, without its quotes.
    private func parse(_ command: String) throws {
        let line = command.split(separator: " &&")[0]
        let words = line.matches(of: /"([^"]*)"|(\S+)/).map { match in
            String(match.1 ?? match.2 ?? "")
        }.dropFirst()
        let pair = words.prefix(2).joined(separator: " ")
        let isPair = Verbs.named(pair) != nil
        guard let verb = Verbs.named(isPair ? pair : words.first ?? "") else {
            throw UsageError("there is no verb in \(command)")
        }
        let arguments = try OptionParser(verb).parse(Array(words.dropFirst(isPair ? 2 : 1)))
        _ = try verb.init(arguments)
    }
}
