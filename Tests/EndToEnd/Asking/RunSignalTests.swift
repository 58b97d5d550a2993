import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Signals of approved commands", .inParallel)
struct RunSignalTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private var log: String { queue.directory + "/log" }
    private var lines: [String] { queue.lines("log") }

    private func words(_ script: String) -> [String] { ["run", "--", "sh", "-c", script] }

    /// Starts a run, and waits until its question does.
    private func ask(
        _ words: [String], id: Int = 1, under wrapper: [String] = []
    ) async throws -> Child {
        let child = try queue.start(words, under: wrapper)
        #expect(await eventually { child.errors.text.contains("answer with: alertq answer \(id)") })
        return child
    }

    private func answer(_ id: Int = 1) async throws {
        #expect(try await queue.run("answer", "\(id)", "run").code == 0)
    }

    @Test("The command gets the signals, and its end by a signal is that of the run")
    func handedOn() async throws {
        let script = """
            trap 'echo usr1 >>\(log)' USR1; trap 'exit 9' TERM; echo ready
            while :; do sleep 0.01; done
            """
        let child = try await ask(words(script))
        try await answer()
        #expect(await eventually { child.output.text == "ready\n" })
        #expect(
            await eventually {
                child.kill(SIGUSR1)
                return lines.contains("usr1")
            })
        child.kill(SIGTERM)
        #expect(await child.exit() == 9)
        let dies = try await ask(words("kill -INT $$"), id: 2)
        try await answer(2)
        #expect(await dies.exit() == 128 + SIGINT)
        let ends = try await queue.rows("SELECT detail FROM audit WHERE event = 'ran'")
        #expect(ends.suffix(2) == [#"{"started":true}"#, #"{"signal":2}"#])
    }

    @Test("The end of the command is known, even if SIGCHLD was ignored before")
    func ignoredChildren() async throws {
        let child = try await ask(
            words("trap - CHLD; (exit 3); exit 7"), under: ["env", "--ignore-signal=CHLD"])
        try await answer()
        #expect(await child.exit() == 7)
        let ends = try await queue.rows("SELECT detail FROM audit WHERE event = 'ran'")
        #expect(ends == [#"{"started":true}"#, #"{"exit_status":7}"#])
    }

    @Test("A run that is interrupted while it waits withdraws the question; the next one asks anew")
    func interrupted() async throws {
        let child = try await ask(words("echo >>\(log)"))
        child.kill(SIGTERM)
        #expect(await child.exit() == 128 + SIGTERM)
        #expect(try await queue.objects("show", "1").first?["outcome"] as? String == "withdrawn")
        let next = try await ask(words("echo >>\(log)"), id: 2)
        #expect(lines == [])
        try await answer(2)
        #expect(await next.exit() == 0)
    }

    @Test("A run that asks again, because another one has used the answer, can be interrupted")
    func interruptedAgain() async throws {
        let words = words("echo x >>\(log)")
        let both = [try await ask(words), try await ask(words)]
        try await answer()
        let question = "answer with: alertq answer 2"
        #expect(await eventually { both.contains { $0.errors.text.contains(question) } })
        let loser = try #require(both.first { $0.errors.text.contains(question) })
        #expect(loser.errors.text.contains("asking again"))
        loser.kill(SIGTERM)
        #expect(await loser.exit() == 128 + SIGTERM)
        #expect(try await queue.objects("show", "2").first?["outcome"] as? String == "withdrawn")
        #expect(lines == ["x"])
    }

    @Test("When the terminal of its session hangs up, the command gets SIGHUP")
    func hangUp() async throws {
        let terminal = try PseudoTerminal()
        let script = """
            trap 'echo hup >>\(log); exit 4' HUP; echo go >>\(log); while :; do sleep 0.01; done
            """
        let child = try queue.start(words(script), on: terminal)
        #expect(await terminal.shows("Don't run"))
        #expect(try await terminal.press("r") { lines == ["go"] })
        terminal.hangUp()
        #expect(await child.exit() == 4)
        #expect(lines == ["go", "hup"])
    }

    /// Starts a job that prints its process and then goes on printing; returns that process.
    private func job(
        on terminal: PseudoTerminal, _ start: ([String]) throws -> Void
    ) async throws -> String {
        try start(words("echo $$ >\(log); while :; do echo x >>\(log).alive; sleep 0.01; done"))
        #expect(await terminal.shows("Don't run"))
        #expect(try await terminal.press("r") { lines.count == 1 })
        return try #require(lines.first)
    }

    private var isAlive: Bool {
        get async {
            let count = queue.lines("log.alive").count
            return await eventually { queue.lines("log.alive").count > count }
        }
    }

    @Test("In a shell's terminal, Ctrl-Z stops the job, fg continues it, and Ctrl-C ends it")
    func job() async throws {
        let terminal = try PseudoTerminal()
        let shell = try await queue.shell(on: terminal)
        let command = try await job(on: terminal) { words in
            let quoted = words.map { "'\($0)'" }.joined(separator: " ")
            try terminal.type("$A \(quoted)\n")
        }
        #expect(await isAlive)
        let count = terminal.bytes.count
        try terminal.type("\u{1A}")
        #expect(await terminal.shows("ready> ", since: count))
        // A shell that has just started a program with vfork(2) waits for that, which has stopped.
        #expect(await eventually { ["T", "D"].contains(queue.state(of: command)) })
        try terminal.type("fg\n")
        #expect(await isAlive)
        try terminal.type("\u{3}")
        #expect(await eventually { queue.state(of: command) == "" })
        try terminal.type("echo code $? >&2\n")
        #expect(await terminal.shows("code \(128 + SIGINT)"))
        shell.kill(SIGKILL)
    }

    @Test("Without a shell that could continue the job, Ctrl-Z stops nothing")
    func orphan() async throws {
        let terminal = try PseudoTerminal()
        var child: Child?
        let command = try await job(on: terminal) { words in
            child = try queue.start(words, on: terminal)
        }
        let run = try #require(child)
        try terminal.type("\u{1A}")
        // What is typed after it is read after it.
        try terminal.type("\u{3}")
        #expect(await run.exit() == 128 + SIGINT)
        #expect(queue.state(of: command) == "")
    }
}
