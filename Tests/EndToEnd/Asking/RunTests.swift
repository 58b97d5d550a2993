import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Approved commands", .inParallel)
struct RunTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private var log: String { queue.directory + "/log" }

    /// What the command has written, a line for each run.
    private var runs: [String] { queue.lines("log") }

    /// The words that ask whether a shell script may run, which first records that it does.
    private func words(_ script: String = "", options: [String] = []) -> [String] {
        let note = "echo $ALERTQ_ALERT $ALERTQ_BUTTON >>\(log)"
        return ["run"] + options + ["--", "sh", "-c", "\(note); \(script)"]
    }

    /// Starts a run, and waits until its question does.
    private func ask(_ words: [String], id: Int) async throws -> Child {
        let child = try queue.start(words)
        #expect(await eventually { child.errors.text.contains("answer with: alertq answer \(id)") })
        return child
    }

    private func events() async throws -> [String] {
        try await queue.rows(
            """
            SELECT event || iif(event = 'resolved', '', coalesce(' ' || detail, '')) FROM audit
            WHERE event <> 'asked' ORDER BY seq
            """)
    }

    @Test("After a yes the command runs with its own output and exit code, and is logged")
    func approved() async throws {
        let child = try await ask(words("echo out; echo err >&2; exit 7"), id: 1)
        let alert = try #require(try await queue.objects("show", "1").first)
        let message = alert["message"] as? String ?? ""
        #expect(message.hasPrefix("Command: sh -c 'echo $ALERTQ_ALERT"))
        #expect(message.contains("\nDirectory: \(FileManager.default.currentDirectoryPath)\n"))
        #expect(try await queue.run("answer", "1", "run").code == 0)
        let end = await child.finish()
        #expect(end.code == 7 && end.output == "out\n" && end.errors.hasSuffix("\nerr\n"), "\(end)")
        #expect(runs == ["1 run"])
        #expect(
            try await events() == [
                "resolved", "collected", #"ran {"started":true}"#, #"ran {"exit_status":7}"#,
            ])
        #expect(try await queue.isSound())
    }

    @Test(
        "Without a yes nothing runs, and the exit code, the message and the JSON say why",
        arguments: [
            (["answer", "1", "no"], "denied", "answered “Don't run” by"),
            (["withdraw", "1"], "withdrawn", "withdrawn by"),
            (["cancel", "1"], "cancelled", "cancelled by"),
        ])
    func refused(end: [String], reason: String, words told: String) async throws {
        let child = try await ask(words(options: ["--json"]), id: 1)
        #expect(try await queue.start(end).finish().code == 0)
        let finished = await child.finish()
        #expect(finished.code == 125 && finished.errors.contains(told), "\(finished)")
        let object = try JSONSerialization.jsonObject(with: Data(finished.output.utf8))
        let result = try #require(object as? [String: any Sendable])
        #expect(result["ran"] as? Bool == false && result["reason"] as? String == reason)
        #expect((result["alert"] as? [String: any Sendable])?["id"] as? Int == 1)
        #expect(runs == [])
        #expect(try await queue.rows("SELECT collected_ms IS NULL FROM alerts") == ["0"])
        #expect(try await queue.isSound())
    }

    @Test("With --only-person a program can say no, but not yes")
    func onlyPerson() async throws {
        for (button, reason) in [("run", "program"), ("no", "denied")] {
            let words = words(options: ["--only-person", "--json"])
            let child = try queue.start(words)
            #expect(await eventually { child.errors.text.contains("answer with") })
            let id = try #require(try await queue.objects("list").first?["id"] as? Int)
            #expect(try await queue.run("answer", "\(id)", button).code == 0)
            let end = await child.finish()
            #expect(end.code == 125 && end.output.contains("\"reason\":\"\(reason)\""), "\(end)")
        }
        #expect(runs == [])
        let terminal = try PseudoTerminal()
        let child = try queue.start(words(options: ["--only-person"]), on: terminal)
        #expect(await terminal.shows("Don't run"))
        #expect(try await terminal.press("r") { child.poll() != nil })
        #expect(await child.exit() == 0 && runs == ["3 run"])
    }

    @Test("Each reason for which nothing ran is a word of the JSON")
    func reasons() async throws {
        let once = words(options: ["--key", "k", "--json"])
        let first = try await ask(once, id: 1)
        #expect(try await queue.run("answer", "1", "run").code == 0)
        #expect(await first.exit() == 0)
        let soon = ["--timeout", "200ms", "--json"]
        for (words, reason) in [
            (once, "used"), (words(options: soon), "expired"),
            (words(options: soon + ["--default", "no"]), "expired"),
            (words("##", options: ["--wait-for", "10ms", "--json"]), "waiting"),
            (words("###", options: ["--if-unattended", "fail", "--json"]), "unattended"),
            (words("####", options: ["--key", "k", "--json"]), "error"),
        ] {
            let end = try await queue.start(words).finish()
            let object = try JSONSerialization.jsonObject(with: Data(end.output.utf8))
            #expect((object as? [String: Any])?["reason"] as? String == reason, "\(end)")
            #expect(end.code == 125)
        }
        #expect(runs == ["1 run"])
    }

    @Test("A question that expired while no process waited for it is asked again")
    func expiredAlone() async throws {
        let killed = try await ask(words(options: ["--timeout", "300ms"]), id: 1)
        killed.kill(SIGKILL)
        _ = await killed.exit()
        #expect(
            try await eventually {
                try await queue.objects("show", "1").first?["outcome"] as? String == "expired"
            })
        let next = try await ask(words(options: ["--timeout", "1h"]), id: 2)
        #expect(try await queue.run("answer", "2", "run").code == 0)
        #expect(await next.exit() == 0 && runs == ["2 run"])
    }

    @Test("A deadline runs nothing, and its default button only with --allow-default")
    func deadlines() async throws {
        let soon = ["--timeout", "200ms"]
        let expired = try await queue.start(words(options: soon)).finish()
        #expect(expired.code == 125 && expired.errors.contains("expired"), "\(expired)")
        let withoutLeave = try await queue.start(
            words(options: soon + ["--default", "run"])
        ).finish()
        #expect(withoutLeave.code == 125 && withoutLeave.errors.contains("--allow-default"))
        let no = try await queue.start(words(options: soon + ["--default", "no"])).finish()
        #expect(no.code == 125, "\(no)")
        #expect(runs == [])
        let yes = try await queue.start(
            words(options: soon + ["--default", "run", "--allow-default"])
        ).finish()
        #expect(yes.code == 0 && runs == ["3 run"], "\(yes)")
    }

    @Test("A run that was killed while it waited uses the answer once, when it is repeated")
    func repeated() async throws {
        let first = try await ask(words(), id: 1)
        first.kill(SIGKILL)
        _ = await first.exit()
        #expect(try await queue.run("answer", "1", "run").code == 0)
        // Nobody else may take the answer.
        #expect(try await queue.run("wait", "1").code == 0)
        let second = try await queue.start(words()).finish()
        #expect(second.code == 0 && runs == ["1 run"], "\(second)")
        let third = try await queue.start(words(options: ["--wait-for", "100ms"])).finish()
        #expect(third.code == 125 && third.errors.contains("alert 2 still waits"), "\(third)")
        #expect(runs == ["1 run"])
    }

    @Test("A command that differs in a byte, and one in another directory, ask anew")
    func others() async throws {
        for (script, directory) in [
            ("true", "/"), ("true ", "/"), ("true", "/tmp"), ("true", "/"),
        ] {
            let child = try Child(
                "env",
                ["-C", directory, CommandLineQueue.program]
                    + words(script, options: ["--wait-for", "50ms"]),
                environment: ["ALERTQ_DATABASE": queue.path])
            #expect(await child.exit() == 125)
        }
        #expect(try await queue.objects("list").count == 3)
    }

    @Test("Of two runs that wait for one answer, one uses it, and the other asks again")
    func twice() async throws {
        let both = [try await ask(words(), id: 1), try await ask(words(), id: 1)]
        #expect(try await queue.run("answer", "1", "run").code == 0)
        #expect(
            try await eventually { try await queue.objects("list").first?["id"] as? Int == 2 })
        // The other one asks as soon as the answer is used, just before the command starts.
        #expect(await eventually { runs == ["1 run"] })
        #expect(try await queue.run("answer", "2", "run").code == 0)
        for child in both { #expect(await child.exit() == 0) }
        #expect(runs == ["1 run", "2 run"])
        #expect(try await queue.isSound())
    }

    @Test("What can't be asked or started is refused with 125, and nothing is stored")
    func invalid() async throws {
        for words in [
            ["run"], ["run", "--"], ["run", ""], ["run", "/no/such/program"],
            ["run", "/etc/passwd"], ["run", "--nonsense", "true"],
            ["run", "--message", "-", "true"],
            ["run", "--title", "", "true"],
        ] {
            let end = try await queue.start(words).finish()
            #expect(end.code == 125 && end.errors.contains("alertq: run: "), "\(words): \(end)")
        }
        #expect(try await queue.run("audit", "head").code != 0)
        // Options end at the command: this one is its own.
        let child = try await ask(["run", "printf", "--", "--json"], id: 1)
        #expect(try await queue.run("answer", "1", "run").code == 0)
        #expect(await child.finish().output == "--json")
    }

    @Test("A command that is another file after the question is not run, and its answer is used up")
    func changed() async throws {
        let program = queue.directory + "/program"
        symlink("/bin/true", program)
        let first = try await ask(["run", "--json", program], id: 1)
        unlink(program)
        symlink("/bin/false", program)
        #expect(try await queue.run("answer", "1", "run").code == 0)
        let end = await first.finish()
        #expect(end.code == 125 && end.errors.contains("the command has changed"), "\(end)")
        #expect(end.output.contains(#""reason":"error""#) && end.output.contains(#""id":1,"#))
        unlink(program)
        symlink("/bin/true", program)
        let second = try await queue.start(["run", "--wait-for", "10ms", program]).finish()
        #expect(second.code == 125 && second.errors.contains("alert 2 still waits"), "\(second)")
        #expect(
            try await events() == [
                "resolved", "collected", #"ran {"started":true}"#, #"ran {"changed":true}"#,
            ])
    }

    @Test("However a link moves after the answer, no file is started but the one that was shown")
    func moved() async throws {
        let (old, new) = (try queue.script("old", "echo old >>\(log)"), queue.directory + "/new")
        _ = try queue.script("new", "echo new >>\(log)")
        let (program, next) = (queue.directory + "/program", queue.directory + "/next")
        for id in 1...5 {
            unlink(program)
            symlink(old, program)
            symlink(new, next)
            let child = try await ask(["run", program], id: id)
            #expect(try await queue.run("answer", "\(id)", "run").code == 0)
            rename(next, program)
            let end = await child.finish()
            #expect(end.code == 0 || end.errors.contains("the command has changed"), "\(end)")
        }
        #expect(!runs.contains("new"))
    }

    @Test("A text of the asker's comes after the command, however long it is")
    func message() async throws {
        let text = "Command: ls\n" + String(repeating: "Directory: /\n", count: 50)
        let child = try await ask(["run", "-m", text, "--", "rm", "-r", "/srv/a"], id: 1)
        let alert = try #require(try await queue.objects("show", "1").first)
        let message = alert["message"] as? String ?? ""
        #expect(message.hasPrefix("Command: rm -r /srv/a\nProgram: "), "\(message)")
        child.kill(SIGTERM)
        _ = await child.exit()
    }

    @Test("No key runs a command before it and the asker's text have been on the screen")
    func unseen() async throws {
        let text = (1...50).map { "line \($0)." }.joined(separator: "\n")
        let terminal = try PseudoTerminal()
        let child = try queue.start(words(options: ["-m", text]), on: terminal)
        #expect(await terminal.shows("Command: sh -c 'echo $ALERTQ_ALERT"))
        #expect(await terminal.shows("PgDn reads on"))
        #expect(!terminal.text.contains("line 50."))
        let isRead = try await terminal.press("r") { terminal.text.contains("line 50.") }
        #expect(isRead && child.poll() == nil && runs == [])
        #expect(try await terminal.press("r") { child.poll() != nil })
        #expect(await child.exit() == 0 && runs == ["1 run"])
    }

    @Test("An answer that was used runs nothing again after a restore", arguments: [true, false])
    func restored(hasKey: Bool) async throws {
        let words = words(options: hasKey ? ["--key", "k"] : [])
        let first = try await ask(words, id: 1)
        first.kill(SIGKILL)
        _ = await first.exit()
        #expect(try await queue.run("answer", "1", "run").code == 0)
        let backup = queue.directory + "/backup.db"
        #expect(try await queue.run("backup", backup).code == 0)
        #expect(try await queue.start(words).finish().code == 0 && runs == ["1 run"])
        #expect(try await queue.run("restore", backup, "--force").code == 0)
        for attempt in 1...2 {
            let again = try queue.start(["run", "--wait-for", "50ms"] + words.dropFirst())
            let end = await again.finish()
            #expect(end.code == 125 && runs == ["1 run"], "\(end)")
            let isTold = end.errors.contains("before the queue was restored from a backup")
            #expect(isTold == (attempt == 1), "\(end)")
        }
        #expect(try await queue.isSound())
    }

    @Test("A command has no variables of another alert")
    func inherited() async throws {
        let names = ["KEY", "NOTE", "OUTCOME", "VALUES"].map { "ALERTQ_" + $0 }
        let child = try queue.start(
            ["run", "env"], environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "x") }))
        #expect(await eventually { child.errors.text.contains("answer with") })
        #expect(try await queue.run("answer", "1", "run").code == 0)
        let output = await child.finish().output
        #expect(output.contains("ALERTQ_ALERT=1\n"))
        for name in names { #expect(!output.contains(name + "=")) }
    }

    @Test("A command that can't be started is logged as not started")
    func unstartable() async throws {
        let program = queue.directory + "/program"
        try Data("true\n".utf8).write(to: URL(filePath: program))
        chmod(program, 0o755)
        let child = try await ask(["run", program], id: 1)
        #expect(try await queue.run("answer", "1", "run").code == 0)
        let end = await child.finish()
        #expect(end.code == 125 && end.errors.contains("Exec format error"), "\(end)")
        let last = try await events().last ?? ""
        #expect(last == #"ran {"errno":8}"#)
    }
}
