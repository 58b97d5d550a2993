import AlertQueue
import Foundation
import TestSupport
import Testing

@testable import alertq

/// The page about exit codes has an entry for each, and names commands that exist.
@Suite("Troubleshooting", .inParallel)
struct TroubleshootingTests {
    private let text: String
    private let sources: String

    init() throws {
        let sources =
            "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/Sources"
        text = try String(
            contentsOfFile: sources + "/AlertQueue/AlertQueue.docc/Troubleshooting.md",
            encoding: .utf8)
        self.sources = try sources.code()
    }

    @Test("Every exit code has an entry with its number, in order, and no other number has one")
    func codes() {
        let numbers = text.matches(of: /(?m)^### (\d+): \S/).compactMap { Int32($0.1) }
        #expect(numbers == ExitCode.allCases.map(\.rawValue))
    }

    /// Messages with the names and numbers that the page uses.
    private static let messages: [any Error] = [
        AlertError.alreadyResolved(Sample.response()),
        AlertError.late(Sample.response(.expired)),
        AlertError.notAsSeen(42),
        AlertError.claimed(42, Sample.claim),
        AlertError.keyConflict("prune-1", 42, part: "title"),
        AlertError.stale(Sample.response(), validFor: .seconds(900)),
        AlertError.inconsistent(42, "it was changed"),
        AlertError.inconsistent(nil, "it was changed"),
        AlertError.invalid("title", "is blank"),
        AlertError.invalid("message", "has 70000 bytes; at most 65536"),
        Alert.Field("name").missingValue,
        refusal(of: .integer(4), by: Alert.Field("copies", .integer(1...3))),
        AlertError.notFound(42),
        AlertError.unknownCursor(AuditHead(sequence: 7, hash: []), end: 2),
        AlertError.noSuchButton(42, button: "maybe", known: ["yes"]),
        AlertError.tooManyPending(source: "backup", limit: 10_000),
        AlertError.storage(operation: "open the directory /srv", "No such file or directory"),
        AlertError.unreachable("can't be reached: Connection refused"),
        AlertError.missing(location: "postgresql://db/alertq", "there is no database"),
        AlertError.notYours(42, owner: .account(Account(uid: 4_000_000_000))),
        BackgroundError.unattended(42, presenters: ["desktop"]),
        BackgroundError.presenter(name: "desktop", 42, CancellationError()),
    ]

    private static func refusal(
        of value: Alert.Value, by field: Alert.Field
    ) -> any Error {
        do {
            _ = try field.check(value)
            return CancellationError()
        } catch { return error }
    }

    @Test("Every message that the page quotes is printed by the command")
    func quotes() {
        let printed = Self.messages.map { "\($0)" }
        let quotes = text.quotes()
        #expect(quotes.count >= 30)
        for quote in quotes {
            let isPrinted = printed.contains { $0.contains(quote) }
            #expect(isPrinted || sources.contains(quote), "“\(quote)” is printed nowhere")
        }
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

    /// Parses a command line as a shell would pass it: up to the next command, without its quotes.
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
        _ = try verb.parse(Array(words.dropFirst(isPair ? 2 : 1)))
    }
}

extension String {
    /// The texts in outer quotation marks.
    fileprivate func quotes() -> [String] {
        var (quotes, quote, depth) = ([String](), "", 0)
        for character in self {
            if character == "”" { depth -= 1 }
            if depth > 0 { quote.append(character == "\n" ? " " : character) }
            if character == "“" { depth += 1 }
            guard character == "”", depth == 0 else { continue }
            quotes.append(quote)
            quote = ""
        }
        return quotes
    }

    /// The code below a folder, with texts joined that continue on the next line.
    fileprivate func code() throws -> String {
        try FileManager.default.subpathsOfDirectory(atPath: self).filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOfFile: self + "/" + $0, encoding: .utf8) }.joined()
            .replacing(/"\s*\n\s*\+ "/, with: "").replacing(/\\\n\s*/, with: "")
    }
}
