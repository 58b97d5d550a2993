import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The presenters that the documentation has as scripts, tested with the programs that they use.
@Suite(
    "Presenter scripts", .inParallel,
    .enabled(if: DesktopSession.has("jq", "fzf", "rofi"), "needs Xvfb, jq, fzf and rofi"))
struct PresenterExampleTests {
    let queue: CommandLineQueue
    let scripts: [CodeBlock]

    init() throws {
        queue = try CommandLineQueue()
        scripts = try CodeBlock.all("shell", in: CodeBlock.articles + "PresenterScripts.md")
    }

    /// The presenter that uses a program, as the article has it.
    private func path(using program: String) throws -> String {
        let script = try #require(scripts.first { $0.text.contains(program) })
        #expect(script.text.split(separator: "\n").count < 10)
        return try queue.script(program.filter(\.isLetter), script.text)
    }

    private func ask(_ title: String) async throws {
        let asked = try await queue.run(
            "ask", title, "--destructive", "yes=Prune\u{1B}[2J", "--cancel", "no=Keep it",
            "--detach")
        #expect(asked.code == 0)
    }

    private func story(_ id: Int) async throws -> [String: any Sendable] {
        try #require(try await queue.objects("show", "\(id)").first)
    }

    private func isAnswered(_ id: Int, _ button: String) async throws -> Bool {
        try await eventually { try await story(id)["button"] as? String == button }
    }

    @Test("The plain example asks for a number; Enter snoozes")
    func read() async throws {
        let terminal = try PseudoTerminal()
        let show = try path(using: "Number, or Enter")
        try await ask("Prune \u{1B}[2J?")
        let presenter = try queue.start(["present", "--on", "command:\(show)"], on: terminal)
        #expect(await terminal.shows("Number, or Enter for later: "))
        #expect(terminal.text.contains("Prune ?[2J?\r\n1 Prune?[2J\r\n2 Keep it"))
        #expect(!terminal.text.contains("\u{1B}[2J"))
        try terminal.type("2\n")
        #expect(try await isAnswered(1, "no"))
        let count = terminal.bytes.count
        try await ask("Again?")
        #expect(await terminal.shows("for later: ", since: count))
        // Nobody could have read it in less time.
        try await Task.sleep(for: .milliseconds(600))
        try terminal.type("\n")
        #expect(try await eventually { try await story(2)["snoozes"] as? Int == 1 })
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
    }

    @Test("The example in Python gives the values of fields, and is asked again for a wrong one")
    func python() async throws {
        let terminal = try PseudoTerminal()
        let block = try #require(
            try CodeBlock.all("python", in: CodeBlock.articles + "PresenterScripts.md").first)
        let show = queue.directory + "/show.py"
        try block.text.write(toFile: show, atomically: true, encoding: .utf8)
        _ = chmod(show, 0o700)
        let schema = """
            {"properties": {"name": {"type": "string", "title": "New\\u001b name"},
            "copies": {"type": "integer", "minimum": 2},
            "disks": {"type": "array", "items": {"enum": ["sda", "sdb"]}}}, "required": ["copies"]}
            """
        let asked = try await queue.run(
            "ask", "Copy?", "-b", "yes", "--cancel", "no", "--schema", schema, "--detach")
        #expect(asked.code == 0, "\(asked)")
        let presenter = try queue.start(["present", "--on", "command:\(show)"], on: terminal)
        for copies in ["1", "2"] {
            let count = terminal.bytes.count
            #expect(await terminal.shows("Copy?, 1 yes, 2 no, or Enter for later: ", since: count))
            // Nobody could have read it in less time.
            try await Task.sleep(for: .milliseconds(600))
            try terminal.type("1\n")
            #expect(await terminal.shows("New? name: ", since: count))
            try terminal.type("nas\n")
            #expect(await terminal.shows("copies: ", since: count))
            try terminal.type(copies + "\n")
            #expect(await terminal.shows("disks: ", since: count))
            try terminal.type("sda,sdb\n")
        }
        #expect(try await isAnswered(1, "yes"))
        let values = try await story(1)["values"] as? [String: any Sendable]
        #expect(values?["name"] as? String == "nas" && values?["copies"] as? Int == 2)
        #expect(values?["disks"] as? [String] == ["sda", "sdb"])
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }

    @Test("The example with fzf takes typed text; Enter alone snoozes")
    func fzf() async throws {
        let terminal = try PseudoTerminal()
        let show = try path(using: "fzf")
        try await ask("Prune A?")
        let presenter = try queue.start(["present", "--on", "command:\(show)"], on: terminal)
        #expect(await terminal.shows("Prune A?"))
        #expect(await terminal.shows("3/3"))
        try terminal.type("Keep")
        #expect(await terminal.shows("1/3"))
        try terminal.type("\r")
        #expect(try await isAnswered(1, "no"))
        let count = terminal.bytes.count
        try await ask("Prune B?")
        #expect(await terminal.shows("Prune B?", since: count))
        #expect(await terminal.shows("3/3", since: count))
        try terminal.type("\r")
        #expect(try await eventually { try await story(2)["snoozes"] as? Int == 1 })
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
    }

    @Test("The example with rofi shows a menu on the desktop")
    func rofi() async throws {
        let desktop = try await DesktopSession()
        let show = try path(using: "rofi")
        try await ask("Prune A?")
        let presenter = try queue.start(
            ["present", "--on", "command:\(show)"], environment: desktop.environment)
        #expect(
            try await eventually {
                try await !desktop.xdotool("search", "--onlyvisible", "--class", "rofi").isEmpty
            })
        try await Task.sleep(for: .milliseconds(500))
        try await desktop.xdotool("type", "Keep")
        try await desktop.xdotool("key", "Return")
        #expect(try await isAnswered(1, "no"))
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
    }

    @Test("The table of presenters names exactly those that exist")
    func table() async throws {
        let text = try CodeBlock.text(of: "README.md")
        let table = try #require(text.firstMatch(of: /(?s)\| `--on` \|.*?\n\n/)).0
        let named = table.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^\| `([a-z]+)(?::PROGRAM)?` \| [^s]/).map { String($0.1) }
        }
        let refused = try await queue.run("present", "--on", "nothing").errors
        for name in named { #expect(refused.contains(name)) }
        #expect(named.sorted() == ["command", "desktop", "dialog", "terminal"])
    }
}
