import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Custom presenters", .inParallel)
struct CommandPresenterTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Shows that it runs, and cleans up when it is asked to end.
    private static let waiting = """
        trap 'echo $$ >>DIR/cleared; exit' TERM
        sleep 600 &
        echo $$ >>DIR/shown
        wait
        """

    private func script(_ body: String) throws -> String {
        try queue.script("show", body.replacing("DIR", with: queue.directory))
    }

    private func ask(_ title: String = "Prune?") async throws {
        let asked = try await queue.run(
            "ask", title, "--destructive", "yes=Prune", "--cancel", "no=Keep", "--detach")
        #expect(asked.code == 0)
    }

    private func story(_ id: Int = 1) async throws -> [String: any Sendable] {
        try #require(try await queue.objects("show", "\(id)").first)
    }

    @Test("Each alert is shown once, one after another, and --once ends")
    func chosen() async throws {
        try await ask("Prune A?")
        try await ask("Prune B?")
        let show = try script("read -r alert; echo \"$alert\" >>DIR/shown; echo no")
        let presenter = try queue.start(["present", "--once", "--on", "command:\(show)"])
        #expect(await presenter.exit() == 0)
        let shown = queue.lines("shown")
        #expect(shown.count == 2)
        #expect(shown.first?.contains(#""id":1,"source":"alertq""#) == true)
        let alert = try await story(2)
        #expect(alert["outcome"] as? String == "answered" && alert["button"] as? String == "no")
        let responder = alert["responder"] as? [String: any Sendable]
        #expect(responder?["via"] as? String == "command:\(show)")
        #expect(await queue.isDeserted())
    }

    @Test(
        "A choice counts as programs of Windows write it, with a byte order mark or \\r",
        arguments: [
            "printf 'yes\\r\\n'", "printf '\\357\\273\\277yes\\n'", "printf 'yes\\r'",
            #"printf '\357\273\277{"button":"yes","note":"n"}\r\n'"#,
        ])
    func foreignReply(reply: String) async throws {
        try await ask()
        let show = try script("read -r alert; \(reply)")
        let presenter = try queue.start(["present", "--once", "--on", "command:\(show)"])
        #expect(await presenter.exit() == 0)
        let alert = try await story()
        #expect(alert["outcome"] as? String == "answered" && alert["button"] as? String == "yes")
    }

    @Test(
        "The first signal ends it, with --once too, and clears what it shows",
        arguments: [SIGTERM, SIGINT, SIGHUP])
    func onceStopped(signal: Int32) async throws {
        try await ask()
        let show = try script(Self.waiting)
        let presenter = try queue.start(["present", "--once", "--on", "command:\(show)"])
        #expect(await eventually { !queue.lines("shown").isEmpty })
        presenter.kill(signal)
        #expect(await presenter.exit() == 128 + signal)
        #expect(queue.lines("cleared").count == 1)
        #expect(try await story()["state"] as? String == "queued")
        #expect(await queue.isDeserted())
    }

    @Test("The first answer wins and the others clear: of the program, the terminal or any other")
    func together() async throws {
        let show = try script(
            Self.waiting.replacing(
                "wait", with: "until [ -e DIR/go ]; do sleep 0.01; done; echo yes"))
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(
            ["present", "--on", "terminal", "--on", "command:\(show)"], on: terminal)
        // At the terminal.
        try await ask("Prune A?")
        #expect(await terminal.shows("Enter chooses"))
        #expect(await eventually { queue.lines("shown").count == 1 })
        try terminal.type("k")
        #expect(await eventually { queue.lines("cleared").count == 1 })
        #expect(try await story(1)["button"] as? String == "no")
        // Elsewhere.
        try await ask("Prune B?")
        #expect(await terminal.shows("Prune B?"))
        #expect(await eventually { queue.lines("shown").count == 2 })
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        #expect(await eventually { queue.lines("cleared").count == 2 })
        #expect(await terminal.shows("via answer"))
        // By the program.
        try await ask("Prune C?")
        #expect(await terminal.shows("Prune C?"))
        #expect(try await queue.run("list").code == 0)
        _ = FileManager.default.createFile(atPath: queue.directory + "/go", contents: nil)
        // The path is long enough for more lines, and may be broken anywhere.
        #expect(
            await eventually {
                terminal.text.filter { !$0.isWhitespace }.contains("viacommand:\(show)")
            })
        #expect(try await story(3)["button"] as? String == "yes")
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(terminal.isInOrder)
        #expect(await queue.isDeserted())
    }

    @Test(
        "However the presenting process ends, no process of the program is left",
        arguments: [SIGTERM, SIGHUP, SIGKILL])
    func ended(signal: Int32) async throws {
        let show = try script(Self.waiting)
        let presenter = try queue.start(["present", "--on", "command:\(show)"])
        try await ask()
        #expect(await eventually { queue.lines("shown").count == 1 })
        // The command, the keeper, the script and what it started.
        #expect(await eventually { queue.processes.count == 4 })
        presenter.kill(signal)
        #expect(await presenter.exit() == 128 + signal)
        #expect(await queue.isDeserted())
        #expect(queue.lines("cleared").count == 1)
        #expect(try await story()["state"] as? String == "queued")
    }

    @Test("A program that ignores SIGTERM is killed with its presenter, SIGKILL or not")
    func stubborn() async throws {
        let show = try script("trap '' TERM\nsleep 600 & echo $$ >>DIR/shown\nwait\nsleep 600")
        for signal in [SIGTERM, SIGKILL] {
            let presenter = try queue.start(["present", "--on", "command:\(show)"])
            if signal == SIGTERM { try await ask() }
            let count = signal == SIGTERM ? 1 : 2
            #expect(await eventually { queue.lines("shown").count == count })
            presenter.kill(signal)
            #expect(await presenter.exit() == 128 + signal)
            #expect(await queue.isDeserted())
        }
    }

    @Test("A program in a session of its own is answered in time, and ended with its presenter")
    func ownSession() async throws {
        let show = try script(
            """
            exec setsid sh -c '
                trap "" TERM; echo $$ >>DIR/shown
                until [ -e DIR/go ]; do sleep 0.01; done
                date +%s%3N >>DIR/said; echo yes; while :; do sleep 600; done'
            """)
        let presenter = try queue.start(["present", "--on", "command:\(show)"])
        try await ask()
        #expect(await eventually { queue.lines("shown").count == 1 })
        _ = FileManager.default.createFile(atPath: queue.directory + "/go", contents: nil)
        #expect(try await eventually { try await story()["button"] as? String == "yes" })
        let said = try #require(queue.lines("said").first.flatMap { Int($0) })
        let resolved = try await queue.rows("SELECT resolved_ms FROM alerts")
        let time = try #require(resolved.first.flatMap { Int($0) }) - said
        #expect(time < 2000, "\(time) ms")
        // It was reaped, too: the presenting process and nothing else is left.
        #expect(await eventually { queue.processes == [presenter.pid] })
        let children = "/proc/\(presenter.pid)/task/\(presenter.pid)/children"
        #expect(try String(contentsOfFile: children, encoding: .utf8) == "")
        try FileManager.default.removeItem(atPath: queue.directory + "/go")
        try await ask()
        #expect(await eventually { queue.lines("shown").count == 2 })
        let start = ContinuousClock.now
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(ContinuousClock.now - start < .seconds(4))
        #expect(await eventually { queue.lines("shown").allSatisfy { !exists($0) } })
    }

    private func exists(_ process: String) -> Bool {
        FileManager.default.fileExists(atPath: "/proc/\(process)")
    }

    @Test("If the program or its keeper is killed, the alert is shown again")
    func killed() async throws {
        let show = try script(Self.waiting)
        let presenter = try queue.start(["present", "--on", "command:\(show)"])
        try await ask()
        #expect(await eventually { queue.lines("shown").count == 1 })
        let script = try #require(queue.lines("shown").first.flatMap { pid_t($0) })
        // The keeper leads the group.
        #expect(getpgid(script) != script)
        kill(script, SIGKILL)
        #expect(await eventually { queue.lines("shown").count == 2 })
        let second = try #require(queue.lines("shown").last.flatMap { pid_t($0) })
        kill(getpgid(second), SIGKILL)
        #expect(await eventually { queue.lines("shown").count == 3 })
        #expect(await eventually { queue.processes.count == 4 })
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(await eventually { queue.processes == [presenter.pid] })
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        let log = await presenter.errors.complete()
        #expect(log.contains("was ended by signal 9; alert 1 still waits, next try in 1 s"))
        #expect(try await queue.isSound())
    }

    @Test("A program that crashes at once is not restarted endlessly, and loses nothing")
    func crashing() async throws {
        try await ask()
        let show = try script("echo >>DIR/shown .; kill -SEGV $$")
        let presenter = try queue.start(["present", "--on", "command:\(show)"])
        // Pauses of 1 and 2 seconds lie between the first three runs; then the alert rests for 2 s,
        // and for 4 s.
        #expect(await eventually { queue.lines("shown").count == 4 })
        try await Task.sleep(for: .seconds(2))
        #expect(queue.lines("shown").count == 4)
        #expect(try await story()["outcome"] is NSNull)
        #expect(try await queue.run("answer", "1", "no").code == 0)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(await queue.isDeserted())
        #expect(try await queue.isSound())
    }

    @Test("Ending without output snoozes the alert, as a person would")
    func later() async throws {
        try await ask()
        let show = try script("exit 0")
        let presenter = try queue.start(["present", "--on", "command:\(show)"])
        #expect(try await eventually { try await story()["snoozes"] as? Int == 1 })
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        #expect(try await story()["outcome"] is NSNull)
    }

    /// A program that asks on the terminal.
    private static let asking = """
        stty -echo </dev/tty
        echo "Your choice:" >/dev/tty
        read -r choice </dev/tty && echo "$choice"
        """

    /// Starts an interactive shell, in which `$A` is the command.
    private func shell(on terminal: PseudoTerminal) async throws -> Child {
        let shell = try Child(
            "bash", ["--norc", "-i"],
            environment: [
                "ALERTQ_DATABASE": queue.path, "PS1": "ready> ", "HISTFILE": "",
                "A": CommandLineQueue.program,
            ], on: terminal)
        #expect(await terminal.shows("ready> "))
        return shell
    }

    @Test("A program at the terminal has the keyboard, and gives it back")
    func keyboard() async throws {
        let terminal = try PseudoTerminal()
        let show = try script(Self.asking)
        let shell = try await shell(on: terminal)
        try await ask("Prune A?")
        var count = terminal.bytes.count
        try terminal.type("$A present --on command:\(show)\n")
        #expect(await terminal.shows("Your choice:", since: count))
        try terminal.type("no\n")
        #expect(try await eventually { try await story()["button"] as? String == "no" })
        // Ctrl-Z and Ctrl-C apply to the whole job.
        count = terminal.bytes.count
        try await ask("Prune B?")
        #expect(await terminal.shows("Your choice:", since: count))
        try terminal.type("\u{1a}")
        #expect(await terminal.shows("Stopped", since: count))
        #expect(try await story(2)["state"] as? String == "queued")
        count = terminal.bytes.count
        try terminal.type("fg\n")
        #expect(await terminal.shows("Your choice:", since: count))
        try terminal.type("\u{3}")
        #expect(await terminal.shows("ready> ", since: count))
        #expect(try await story(2)["state"] as? String == "queued")
        try terminal.type("echo $((6*7))typed >&2\n")
        #expect(await terminal.shows("42typed", since: count))
        shell.kill(SIGKILL)
        _ = await shell.exit()
        #expect(await queue.isDeserted())
    }

    @Test("Ctrl-\\ and the end of its session end the presenter while a program has the terminal")
    func otherSignals() async throws {
        let terminal = try PseudoTerminal()
        let show = try script(Self.asking)
        let shell = try await shell(on: terminal)
        try await ask()
        try terminal.type("ulimit -c 0; $A present --on command:\(show)\n")
        #expect(await terminal.shows("Your choice:"))
        var count = terminal.bytes.count
        try terminal.type("\u{1c}")
        #expect(await terminal.shows("ready> ", since: count))
        #expect(try await story()["state"] as? String == "queued")
        count = terminal.bytes.count
        try terminal.type("$A present --on command:\(show)\n")
        #expect(await terminal.shows("Your choice:", since: count))
        shell.kill(SIGKILL)
        _ = await shell.exit()
        #expect(await queue.isDeserted())
        #expect(try await story()["state"] as? String == "queued")
    }

    @Test("Nothing is written onto a terminal while a program has it")
    func undisturbed() async throws {
        let terminal = try PseudoTerminal()
        let show = try script(
            """
            trap 'echo ended >/dev/tty; exit' TERM
            echo begun >/dev/tty
            read -r choice </dev/tty
            """)
        let presenter = try queue.start(["present", "--on", "command:\(show)"], on: terminal)
        #expect(await terminal.shows("showing alerts on command:"))
        try await ask()
        #expect(await terminal.shows("begun\r\n"))
        let count = terminal.bytes.count
        let presented = { try await queue.objects("audit", "list").count == 2 }
        #expect(try await eventually { try await presented() })
        try await ask("Another?")
        #expect(try await queue.run("snooze", "2", "--for", "1h").code == 0)
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(await terminal.shows("alert 1: answered"))
        let written = terminal.text(since: count)
        #expect(written.hasPrefix("ended\r\nalertq: "), "\(written)")
        for event in ["alert 1 presented", "alert 2 asked", "alert 2 snoozed"] {
            #expect(written.contains(event), "\(written)")
        }
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }

    @Test(
        "An unknown presenter is refused with the known ones",
        arguments: [
            (["--on", "termnal"], 64, "choose one of terminal, "),
            (["--on", "termnal"], 64, "did you mean “terminal”?"),
            (["--on", "command:"], 64, "names no program"),
            (["--on", "command:a", "--on", "command:a"], 64, "--on command:a is given twice"),
            (["--on", "command:/nowhere"], 66, "no program “/nowhere” that can be started"),
            (["--on", "terminal"], 64, "foreground of a terminal"),
        ])
    func refused(options: [String], code: Int32, reason: String) async throws {
        let presenter = try await queue.start(["present"] + options).finish()
        #expect(presenter.code == code && presenter.errors.contains(reason), "\(presenter)")
        #expect(!FileManager.default.fileExists(atPath: queue.path))
    }
}
