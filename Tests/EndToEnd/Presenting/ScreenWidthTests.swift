import AlertPresenters
import Foundation
import ProcessTesting
import TestSupport
import Testing

@testable import alertq

/// What verbs print on real terminals of several widths, with text of unusual display widths.
@Suite("Screens of every width", .inParallel)
struct ScreenWidthTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let titles = [
        "Plain?", "日本語の質問ですか", "שלום עולם", "مرحبا بالعالم", "👩‍👩‍👧 👍🏽 🇩🇪 ok?",
        "e\u{301}te\u{301} 한국어", String(repeating: "long 長い ", count: 30),
    ]

    private static let verbs = [
        ["list"], ["history"], ["audit", "list"], ["stats"], ["show", "2"], ["doctor"],
        ["watch", "--after", "0"], ["list", "--utc"], ["history", "--utc"], ["show", "2", "--utc"],
        ["audit", "list", "--utc"], ["stats", "--since", "7d", "--source", "backup", "--utc"],
        ["watch", "--after", "0", "--utc"],
    ]

    private func fill() async throws {
        for (number, title) in Self.titles.enumerated() {
            for end in ["wait", "answer"] {
                let asked = try await queue.run(
                    "ask", title, "-m", title + "\n" + title, "-b", "ja=はい", "--cancel", "no=לא",
                    "--source", number % 2 == 0 ? "バックアップ" : "backup", "--detach")
                if end == "answer" {
                    _ = try await queue.run("answer", String(asked.output.dropLast()), "ja")
                }
            }
        }
    }

    /// The lines that a verb prints on a terminal, without colours.
    private func lines(_ verb: [String], columns: Int) async throws -> [String] {
        let terminal = try PseudoTerminal(columns: columns)
        let script = "exec \(CommandLineQueue.program) \(verb.joined(separator: " ")) >&2"
        let shell = try Child(
            "sh", ["-c", script], environment: ["ALERTQ_DATABASE": queue.path], on: terminal)
        if verb[0] == "watch" {
            // 14 asks and 7 answers.
            let count = 22
            #expect(await eventually { terminal.text.split(separator: "\r\n").count >= count })
            shell.kill(SIGTERM)
        }
        _ = await shell.exit()
        return await Self.settled(terminal)
    }

    /// The lines of a terminal to which nothing is written any longer, without colours.
    private static func settled(_ terminal: PseudoTerminal) async -> [String] {
        var before = -1
        _ = await eventually(each: .milliseconds(20)) {
            defer { before = terminal.bytes.count }
            return terminal.bytes.count == before
        }
        // Cursor movements are at the beginnings of lines.
        return terminal.text.replacing(/\u{1B}\[[0-?]*[@-~]/, with: "")
            .split { $0 == "\r\n" || $0 == "\r" || $0 == "\n" }.map(String.init)
    }

    @Test("No line is wider than the screen", arguments: [40, 80, 200], verbs)
    func fits(columns: Int, verb: [String]) async throws {
        try await fill()
        let lines = try await lines(verb, columns: columns)
        #expect(lines.count > 3)
        for line in lines {
            #expect(DisplayWidth.of(line) <= columns, "\(DisplayWidth.of(line)): \(line)")
            #expect(!line.contains("\u{1B}"))
        }
    }

    @Test("Help fits, and leaves nothing out", arguments: [40, 80, 200])
    func help(columns: Int) async throws {
        let words = { (text: String) in
            text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        for verb in [["help"], ["audit", "--help"]] + Verbs.all.map({ ["help", $0.name] }) {
            let lines = try await lines(verb, columns: columns)
            #expect(lines.count > 3)
            for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(line)") }
            let whole = try await queue.start(
                verb.flatMap { $0.split(separator: " ") }.map(String.init)
            )
            .finish().output
            #expect(words(lines.joined(separator: "\n")) == words(whole))
        }
    }

    @Test(
        "What present and ask show fits, and so do the lines that stay",
        arguments: [40, 80, 200], ["present", "ask"])
    func shown(columns: Int, verb: String) async throws {
        for (number, title) in Self.titles.enumerated() {
            let terminal = try PseudoTerminal(columns: columns)
            let question = [
                "ask", title, "-m", title + "\n" + title, "-b", "ja=はい", "-b", "その他のボタン",
                "--cancel", "no=לא", "--timeout", "2h", "--source", "バックアップ",
            ]
            if verb == "present" { _ = try await queue.start(question + ["--detach"]).finish() }
            let words = verb == "present" ? ["present", "--once"] : question
            let child = try queue.start(words, on: terminal)
            #expect(await terminal.shows("はい"), "\(terminal.text)")
            _ = try await queue.run("answer", "\(number + 1)", "ja")
            #expect(await child.exit() == 0)
            let lines = await Self.settled(terminal)
            // A note is a sentence, which the terminal wraps.
            for line in lines where !line.hasPrefix("alertq: ") {
                #expect(DisplayWidth.of(line) <= columns, "\(DisplayWidth.of(line)): \(line)")
            }
        }
    }

    @Test("Columns stay in place, no matter what they contain", arguments: [40, 80, 200])
    func inPlace(columns: Int) async throws {
        try await fill()
        for verb in ["list", "history"] {
            let lines = try await lines([verb], columns: columns)
            let head = try #require(lines.first { $0.contains("TITLE") })
            let begin = try #require(head.range(of: "TITLE")).lowerBound
            let start = DisplayWidth.of(String(head[..<begin]))
            for title in Self.titles {
                // A cut text begins like the whole one.
                let beginning = String(title.prefix(5))
                let rows = lines.filter { $0.contains(beginning) }
                #expect(rows.count == 1, "\(verb) \(title)")
                for row in rows {
                    let begin = try #require(row.range(of: beginning)).lowerBound
                    #expect(DisplayWidth.of(String(row[..<begin])) == start, "\(row)")
                }
            }
        }
    }

    @Test("Where there is room, nothing is cut", arguments: titles.dropLast())
    func whole(title: String) async throws {
        try await fill()
        #expect(try await lines(["list"], columns: 200).contains { $0.contains(title) })
    }
}
