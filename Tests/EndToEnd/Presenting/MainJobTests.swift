import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Main job", .inParallel)
struct MainJobTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let question = ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No"]

    @Test(
        "Ask in one process, present in another, answer by keys: the asker gets the button",
        arguments: [("\r", Int32(10), "no\n"), ("1", 0, "yes\n"), ("\t\r", 0, "yes\n")])
    func answerByKeys(keys: String, code: Int32, output: String) async throws {
        let terminal = try PseudoTerminal()
        let asker = try queue.start([
            "ask", "Prune?", "--destructive", "yes=Yes", "--cancel", "no=No",
        ])
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("Prune?"))
        // A destructive button takes a key and Enter.
        let isAnswered = try await terminal.press(keys == "1" ? "1\r" : keys) {
            asker.poll() != nil
        }
        #expect(isAnswered, "\(terminal.text.suffix(600).debugDescription)")
        #expect(await asker.exit() == code)
        #expect(await asker.output.complete() == output)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(terminal.isInOrder)
        #expect(try await queue.isSound())
    }

    @Test("An ask in the foreground shows its alert, and accepts keys after a silence")
    func selfPresenting() async throws {
        let terminal = try PseudoTerminal()
        let asker = try queue.start(Self.question, on: terminal)
        #expect(await terminal.shows("Prune?"))
        // Type-ahead and continued typing answer nothing.
        for _ in 0..<5 {
            try terminal.type("y\n")
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(terminal.text.contains("stop typing to answer"))
        #expect(asker.poll() == nil)
        #expect(try await terminal.press("1") { asker.poll() != nil })
        #expect(await asker.exit() == 0)
        #expect(await asker.output.complete() == "yes\n")
        #expect(terminal.isInOrder)
        let answer = try #require(try await queue.objects("history").first)
        #expect(answer["by"] as? String == "person")
        let responder = try #require(answer["responder"] as? [String: any Sendable])
        #expect(responder["via"] as? String == "terminal")
        #expect(responder["tty"] as? String == terminal.path)
    }

    @Test("Without a terminal, an ask prints a line with a command to answer it, which works")
    func howToAnswer() async throws {
        let asker = try queue.start(Self.question)
        #expect(await eventually { asker.errors.text.contains("\n") })
        let line = try #require(asker.errors.text.split(separator: "\n").first)
        let command = try #require(line.firstRange(of: "alertq answer ")).upperBound
        let words = line[command...].split(separator: " (")[0]
        let answer = try Child("sh", ["-c", "\(CommandLineQueue.program) answer \(words)"])
        #expect(await answer.exit() == 0)
        #expect(await asker.exit() == 0)
        #expect(await asker.output.complete() == "yes\n")
    }

    @Test("An ask is shown on its own terminal and where alerts are presented; either answers")
    func everywhere() async throws {
        let (elsewhere, here) = (try PseudoTerminal(), try PseudoTerminal())
        let presenter = try queue.start(["present"], on: elsewhere)
        #expect(await elsewhere.shows("showing alerts"))
        for terminal in [here, elsewhere] {
            let (shown, told) = (here.bytes.count, elsewhere.bytes.count)
            let asker = try queue.start(Self.question, on: here)
            #expect(await here.shows("Prune?", since: shown))
            #expect(await elsewhere.shows("Prune?", since: told))
            #expect(try await terminal.press("1") { asker.poll() != nil })
            #expect(await asker.exit() == 0)
            #expect(await asker.output.complete() == "yes\n")
            let (other, count) = terminal === here ? (elsewhere, told) : (here, shown)
            #expect(await other.shows("answered “Yes” by", since: count))
        }
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }

    @Test("An ask that waits for its turn says how many come first, and Enter answers it here")
    func answerHere() async throws {
        let (elsewhere, here) = (try PseudoTerminal(), try PseudoTerminal())
        for number in 1...2 { _ = try await queue.run("ask", "Before \(number)?", "--detach") }
        let presenter = try queue.start(["present"], on: elsewhere)
        #expect(await elsewhere.shows("Before 1?"))
        let asker = try queue.start(Self.question, on: here)
        #expect(await here.shows("2 alerts come first; press Enter to answer here"))
        #expect(here.text.contains(elsewhere.path))
        try here.type("\n")
        #expect(await here.shows(", or Enter to leave it waiting: "))
        try await here.press("1\n")
        #expect(await asker.exit() == 0)
        #expect(await asker.output.complete() == "yes\n")
        // The log says that the person had it in front of them.
        let answer = try #require(try await queue.objects("history").first)
        #expect(answer["presented_at"] as? String != nil)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }

    @Test(
        "An ask that waits for its turn knows keys that are sent as numbers, and echoes none",
        arguments: [("\u{1B}[13u", true), ("\u{1B}[99;5u", false), ("\u{1B}[27;5;99~", false)])
    func numberedKeys(key: String, opens: Bool) async throws {
        let (elsewhere, here) = (try PseudoTerminal(), try PseudoTerminal())
        _ = try await queue.run("ask", "Before?", "--detach")
        let presenter = try queue.start(["present"], on: elsewhere)
        #expect(await elsewhere.shows("Before?"))
        let asker = try queue.start(Self.question, on: here)
        #expect(await here.shows("press Enter to answer here"))
        #expect(await eventually { !here.isCanonical })
        try here.type("typed" + key)
        if opens {
            #expect(await here.shows(", or Enter to leave it waiting: "))
            try await here.press("1\n")
            #expect(await asker.exit() == 0)
        } else {
            #expect(await asker.exit() == 128 + SIGINT)
        }
        #expect(!here.text.contains("typed") && here.isInOrder)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }

    @Test("An asker that is killed and run again with its key gets the answer")
    func killedAsker() async throws {
        let arguments = Self.question + ["--key", "prune-1"]
        let first = try queue.start(arguments)
        #expect(await eventually { first.errors.text.contains("answer with") })
        first.kill(SIGKILL)
        #expect(await first.exit() == 128 + SIGKILL)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let again = try queue.start(arguments)
        #expect(await again.exit() == 0)
        #expect(await again.output.complete() == "yes\n")
        let answer = try #require(try await queue.objects("history").first)
        #expect(answer["collected_at"] as? String != nil)
    }

    @Test(
        "An interrupt withdraws an ask, unless it has a key",
        arguments: [SIGINT, SIGTERM, SIGHUP], [false, true])
    func interrupt(signal: Int32, hasKey: Bool) async throws {
        let asker = try queue.start(Self.question + (hasKey ? ["--key", "k"] : []))
        #expect(await eventually { asker.errors.text.contains("answer with") })
        asker.kill(signal)
        #expect(await asker.exit() == 128 + signal)
        let alert = try #require(try await queue.objects("show", "1").first)
        #expect(alert["state"] as? String == (hasKey ? "queued" : "resolved"))
        #expect(alert["outcome"] as? String == (hasKey ? nil : "withdrawn"))
    }

    @Test("Ctrl-C in its terminal withdraws an ask, and leaves the terminal in order")
    func controlC() async throws {
        let terminal = try PseudoTerminal()
        let asker = try queue.start(Self.question, on: terminal)
        #expect(await terminal.shows("Prune?"))
        // The screen may still be being drawn.
        try terminal.type("\u{3}")
        #expect(await asker.exit() == 128 + SIGINT)
        #expect(terminal.isInOrder)
        let alert = try #require(try await queue.objects("show", "1").first)
        #expect(alert["outcome"] as? String == "withdrawn")
    }

    @Test("Twenty processes that open a new queue at once all succeed")
    func openAtOnce() async throws {
        let children = try (1...20).map { try queue.start(["notify", "Notice \($0)"]) }
        for child in children {
            let code = await child.exit()
            let errors = await child.errors.complete()
            #expect(code == 0, "\(errors)")
        }
        #expect(try await queue.objects("list").count == 20)
        #expect(try await queue.isSound())
    }
}
