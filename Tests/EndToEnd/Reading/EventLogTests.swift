import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Event log", .inParallel)
struct EventLogTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("Without a terminal, events are logged to stderr, one per line, without the question")
    func lines() async throws {
        let show = try queue.script("show", "echo no")
        let presenter = try queue.start(["present", "--on", "command:\(show)"])
        #expect(await eventually { presenter.errors.text.contains("showing alerts") })
        let asked = try await queue.run(
            "ask", "Secret?", "-b", "yes=Yes", "--cancel", "no=No", "--detach", "--source", "backup"
        )
        #expect(asked.code == 0)
        #expect(await eventually { presenter.errors.text.contains("“no”") })
        #expect(await eventually { presenter.errors.text.contains("audit verify --head") })
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        let log = await presenter.errors.complete()
        let lines = log.split(separator: "\n").dropFirst().filter {
            !$0.contains("the audit log of")
        }
        try #require(lines.count == 3, "\(log)")
        #expect(lines[0] == "alertq: alert 1 asked by backup")
        #expect(lines[1].hasPrefix("alertq: alert 1 presented by "))
        #expect(lines[2].hasPrefix("alertq: alert 1: answered “no” by "))
        #expect(!log.contains("Secret"))
        // The anchor can be compared as the line says.
        let command = try #require(log.firstMatch(of: /to compare: alertq (audit verify .*)/)?.1)
        let verify = try await queue.start(command.split(separator: " ").map(String.init)).finish()
        #expect(verify.code == 0, "\(verify)")
    }

    @Test("Log lines don't overwrite alerts on a terminal")
    func terminal() async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        #expect(try await queue.run("ask", "Prune?", "--detach").code == 0)
        #expect(await terminal.shows("Enter chooses"))
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(await terminal.shows("via answer"))
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(!terminal.text.contains("alert 1 asked") && !terminal.text.contains("audit log"))
    }

    @Test("Of two screens, the one that can log does, even if the other one leads")
    func besideTerminal() async throws {
        let terminal = try PseudoTerminal()
        let first = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("showing alerts"))
        let show = try queue.script("show", "sleep 60")
        let second = try queue.start(["present", "--on", "command:\(show)"])
        #expect(await eventually { second.errors.text.contains("showing alerts") })
        #expect(try await queue.run("ask", "Prune?", "--detach").code == 0)
        #expect(await eventually { second.errors.text.contains("alert 1 asked by") })
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(await eventually { second.errors.text.contains("alert 1: answered “OK” by") })
        for presenter in [first, second] {
            presenter.kill(SIGTERM)
            #expect(await presenter.exit() == 128 + SIGTERM)
        }
        #expect(!terminal.text.contains("alert 1 asked"))
    }

    @Test("Events go to the journal instead of stderr, with fields, without the question")
    func journal() async throws {
        // A journal of the test's own, in its own tree of mounts.
        let receiver = """
            import socket, os, sys
            os.makedirs("/run/systemd/journal", exist_ok=True)
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind("/run/systemd/journal/socket")
            print("ready", flush=True)
            while (text := s.recv(65536).decode()) != "end":
                print(text.strip().replace("\\n", "\\t"), flush=True)
            """
        // It ends once it has received all that was sent before.
        let end = """
            import socket
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.sendto(b"end", "/run/systemd/journal/socket")
            """
        let show = try queue.script("show", "echo no")
        let run = try queue.script(
            "run",
            """
            mount -t tmpfs none /run || exit 9
            /usr/bin/python3 -c '\(receiver)' >\(queue.directory)/journal &
            until grep -q ready \(queue.directory)/journal; do sleep 0.01; done
            \(CommandLineQueue.program) present --once --on command:\(show)
            /usr/bin/python3 -c '\(end)' && wait
            """)
        let asked = try await queue.run(
            "ask", "Secret?", "-b", "yes=Yes", "--cancel", "no=No", "--detach", "--source",
            "backup")
        #expect(asked.code == 0)
        let child = try queue.start(
            [],
            under: [
                "unshare", "--mount", "--mount-proc", "--pid", "--fork", "--kill-child", run,
            ])
        let result = await child.finish()
        #expect(result.code == 0, "\(result)")
        let entries = queue.lines("journal").dropFirst().map { line in
            Set(line.split(separator: "\t").map(String.init))
        }
        let answered = try #require(entries.first { $0.contains("ALERTQ_EVENT=resolved") })
        let expected: Set = [
            "ALERTQ_ID=1", "ALERTQ_SOURCE=backup", "ALERTQ_OUTCOME=answered",
            "ALERTQ_BUTTON=no", "ALERTQ_BUTTON_INDEX=1", "ALERTQ_BY=person",
            "SYSLOG_IDENTIFIER=alertq", "ALERTQ_DATABASE=\(queue.path)", "PRIORITY=5",
        ]
        #expect(answered.isSuperset(of: expected), "\(answered)")
        #expect(entries.contains { $0.contains("ALERTQ_EVENT=presented") })
        #expect(entries.joined().contains { $0.hasPrefix("ALERTQ_AUDIT_HEAD=") })
        #expect(!entries.joined().contains { $0.contains("Secret") })
        #expect(!result.errors.contains("alert 1 "))
    }
}
