import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Locale", .inParallel)
struct LocaleTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func run(_ words: String..., locale: String) async throws -> Finished {
        try await queue.start(words, environment: ["LC_ALL": locale]).finish()
    }

    @Test("In the C locale the command quotes in ASCII, and what programs read stays as it is")
    func ascii() async throws {
        #expect(try await queue.run("notify", "“Done”").code == 0)
        for (locale, quoted) in [("C", "'no'"), ("POSIX", "'no'"), ("C.UTF-8", "“no”")] {
            let refused = try await run("answer", "1", "no", locale: locale)
            #expect(refused.errors.contains("answered \(quoted)"), "\(refused)")
            let list = try await run("list", locale: locale)
            #expect(list.output.contains("“Done”"), "\(list)")
            let shown = try await run("show", "1", "--json", locale: locale)
            #expect(shown.output.contains("“Done”"), "\(shown)")
        }
        // A stderr that is a file has no letters that the locale lacks, either.
        #expect(try await queue.run("ask", "Go?", "-b", "é", "--detach").code == 0)
        let unknown = try await run("answer", "2", "ü", locale: "C")
        #expect(unknown.errors.utf8.allSatisfy { $0 < 0x80 }, "\(unknown)")
        #expect(unknown.errors.contains("<U+00FC>"), "\(unknown)")
        let terminal = try PseudoTerminal()
        let help = try Child(
            "sh", ["-c", "exec \"$0\" help ask >&0", CommandLineQueue.program],
            environment: ["LC_ALL": "C"], on: terminal)
        #expect(await help.finish().code == 0)
        #expect(terminal.text.contains("'-' reads it from stdin"), "\(terminal.text)")
    }

    /// Answers a question on a terminal in the C locale, and checks all that it shows.
    private func answer(_ words: String..., typing keys: String) async throws -> PseudoTerminal {
        let terminal = try PseudoTerminal(columns: 70)
        let asker = try queue.start(
            [
                "ask", "“削除” <U+65E5>", "-m", "Größe…\n日", "-b", "ja=はい", "--cancel", "no=Nein",
                "--source", "バックアップ",
            ] + words,
            on: terminal, environment: ["LC_ALL": "C", "TERM": "xterm"])
        #expect(try await terminal.press(keys) { asker.poll() != nil }, "\(terminal.text)")
        let finished = await asker.finish()
        #expect(finished.code == 0 && finished.output == "ja\n", "\(finished)")
        #expect(terminal.bytes.allSatisfy { $0 < 0x80 }, "\(terminal.text)")
        for text in [
            "<U+201C><U+524A><U+9664><U+201D> <U+003C>U+65E5>", "Gr<U+00F6><U+00DF>e<U+2026>",
            "<U+306F><U+3044>", "<U+30D0><U+30C3>",
        ] {
            #expect(terminal.text.contains(text), "\(text): \(terminal.text)")
        }
        return terminal
    }

    @Test("In the C locale a screen shows an alert exactly, in ASCII")
    func screen() async throws {
        let terminal = try await answer(typing: "\r")
        #expect(terminal.text.contains(" * "), "\(terminal.text)")
        // The note that stays.
        #expect(terminal.text.contains("+ <U+201C>"), "\(terminal.text)")
    }

    @Test("In the C locale a numbered prompt shows an alert exactly, in ASCII")
    func prompt() async throws {
        let terminal = try await answer("--plain", typing: "1\r")
        #expect(terminal.text.contains("1)  <U+306F>"), "\(terminal.text)")
    }

    @Test(
        "In the C locale tables, records and events on a terminal show texts exactly, in ASCII",
        arguments: ["list", "show 1", "watch --after 0"])
    func reading(verb: String) async throws {
        _ = try await queue.run(
            "ask", "“é” <U+00E9>", "-m", "ü", "-b", "ja=はい", "--source", "日", "--detach")
        let terminal = try PseudoTerminal(columns: 200)
        let reader = try Child(
            "sh", ["-c", "exec \"$0\" \(verb) >&0", CommandLineQueue.program],
            environment: ["LC_ALL": "C", "ALERTQ_DATABASE": queue.path], on: terminal)
        let title = "<U+201C><U+00E9><U+201D> <U+003C>U+00E9>"
        #expect(await terminal.shows(title), "\(terminal.text)")
        reader.kill(SIGTERM)
        _ = await reader.exit()
        #expect(terminal.text.contains("<U+65E5>"), "\(terminal.text)")
        #expect(terminal.bytes.allSatisfy { $0 < 0x80 }, "\(terminal.text)")
    }
}
