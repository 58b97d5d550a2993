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
        let terminal = try PseudoTerminal()
        let help = try Child(
            "sh", ["-c", "exec \"$0\" help ask >&0", CommandLineQueue.program],
            environment: ["LC_ALL": "C"], on: terminal)
        #expect(await help.finish().code == 0)
        #expect(terminal.text.contains("'-' reads it from stdin"), "\(terminal.text)")
    }
}
