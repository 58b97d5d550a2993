import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Questions that nobody is there to see")
struct UnattendedTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let question = [
        "ask", "Reboot?", "-b", "yes=Yes", "--cancel", "no=No", "--default", "no", "--timeout",
        "1h", "--if-unattended", "default",
    ]

    private func isExpiredByPolicy(_ id: String = "1") async throws -> Bool {
        let line = try #require(try await queue.objects("show", id).first)
        return line["outcome"] as? String == "expired" && line["by"] as? String == "policy"
            && line["button"] as? String == "no" && line["responder"] is NSNull
    }

    /// Waits until another question, in a queue where nobody is there, has got its default.
    private func anUnattendedTime(_ time: String) async throws {
        let other = try CommandLineQueue()
        let asker = try other.start(Self.question + ["--unattended-after", time])
        #expect(await asker.exit() == 10)
    }

    @Test("The default is applied by policy when nobody comes, and the log tells why")
    func nobody() async throws {
        let asked = try await queue.start(
            Self.question + ["--unattended-after", "200ms"]
        ).finish()
        #expect(asked.code == 10 && asked.output == "no\n", "\(asked)")
        #expect(try await isExpiredByPolicy())
        let entries = try await queue.objects("audit", "list")
        let resolved = try #require(entries.first { $0["event"] as? String == "resolved" })
        let detail = try #require(resolved["detail"] as? String)
        #expect(detail.hasPrefix("nobody was there; unseen; expired at "))
        #expect(try await queue.isSound())
    }

    @Test("With --json the object tells policy from person")
    func json() async throws {
        let asked = try await queue.start(
            Self.question + ["--unattended-after", "100ms", "--json"]
        ).finish()
        #expect(asked.code == 10)
        #expect(asked.output.contains(#""outcome":"expired","button":"no""#))
        #expect(asked.output.contains(#""by":"policy","responder":null"#))
    }

    @Test("Without a time of its own it is the timeout, whoever is there")
    func timeout() async throws {
        let asked = try await queue.run(
            "ask", "Go?", "-b", "yes", "--cancel", "no", "--default", "yes", "--timeout", "200ms",
            "--if-unattended", "default")
        #expect(asked.code == 0 && asked.output == "yes\n")
    }

    @Test("Somebody who is there is waited for, and decides")
    func attended() async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("showing alerts"))
        let asker = try queue.start(Self.question + ["--unattended-after", "200ms"])
        #expect(await terminal.shows("Reboot?"))
        try await anUnattendedTime("400ms")
        #expect(asker.poll() == nil)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await asker.exit() == 0)
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
    }

    @Test("A presenter that comes late is in time; when it is killed, the time begins anew")
    func late() async throws {
        let asker = try queue.start(Self.question + ["--unattended-after", "3s"])
        #expect(await eventually { asker.errors.text.contains("waiting") })
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("Reboot?"))
        try await anUnattendedTime("3500ms")
        #expect(asker.poll() == nil)
        presenter.kill(SIGKILL)
        _ = await presenter.exit()
        #expect(await asker.exit() == 10)
        #expect(try await isExpiredByPolicy())
        #expect(try await queue.isSound())
    }

    @Test("A killed asker leaves the alert waiting, and the same command goes on watching")
    func killed() async throws {
        let words = Self.question + ["--key", "k", "--unattended-after", "300ms"]
        let first = try queue.start(words)
        #expect(await eventually { first.errors.text.contains("waiting") })
        first.kill(SIGKILL)
        _ = await first.exit()
        let second = try await queue.start(words).finish()
        #expect(second.code == 10 && second.output == "no\n")
        #expect(try await queue.run("list", "--count").output == "0\n")
        #expect(try await isExpiredByPolicy())
    }

    @Test("An answer and the default race; one of them wins, and the log knows which")
    func race() async throws {
        for id in 1...10 {
            let asker = try queue.start(Self.question + ["--unattended-after", "60ms"])
            #expect(await eventually { asker.errors.text.contains("waiting") })
            usleep(UInt32.random(in: 0...60_000))
            let answer = try await queue.run("answer", "\(id)", "yes")
            let asked = await asker.finish()
            #expect(answer.code == (asked.code == 0 ? 0 : 16), "\(answer) \(asked)")
            #expect(asked.output == (asked.code == 0 ? "yes\n" : "no\n"))
        }
        #expect(try await queue.isSound())
    }
}

@Suite("Ends of a wait")
struct WaitEndTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("--wait-for leaves the alert in the queue, and exits with 15")
    func waitFor() async throws {
        for time in ["20ms", "now", "yesterday"] {
            let asked = try await queue.run("ask", "Q?", "--wait-for", time)
            #expect(asked.code == 15 && asked.output.isEmpty, "\(asked)")
        }
        #expect(try await queue.run("list", "--count").output == "3\n")
    }

    @Test("--detach prints the alert's id, and leaves it in the queue")
    func detach() async throws {
        let asked = try await queue.run("ask", "Q?", "--detach")
        #expect(asked.code == 0 && asked.output == "1\n")
        #expect(try await queue.run("list", "--count").output == "1\n")
    }

    @Test("With no process running, an alert past its deadline is neither counted nor listed")
    func overdue() async throws {
        let asked = try await queue.run("ask", "Q?", "--timeout", "300ms", "--detach")
        #expect(asked.code == 0)
        #expect(try await queue.run("ask", "Later?", "--timeout", "1h", "--detach").code == 0)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        // The quick count, the one of a manager, and the list itself.
        #expect(try await queue.run("list", "--count").output == "1\n")
        #expect(try await queue.objects("list", "--count").first?["pending"] as? Int == 1)
        let doctor = try await queue.run("doctor").output
        #expect(doctor.contains("; 1 alert waits"), "\(doctor)")
        #expect(try await queue.run("list", "--limit", "1").errors == "")
    }

    @Test("--if-unattended fail stores nothing when nobody is there, and asks when somebody is")
    func fail() async throws {
        let words = ["ask", "Q?", "--if-unattended", "fail"]
        #expect(try await queue.start(words).finish().code == 14)
        #expect(try await queue.run("list", "--count").output == "0\n")
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("showing alerts"))
        let asker = try queue.start(words)
        #expect(await terminal.shows("Q?"))
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(await asker.exit() == 0)
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
    }

    @Test("--if-unattended wait waits for somebody to come")
    func wait() async throws {
        let asker = try queue.start(["ask", "Q?", "--if-unattended", "wait"])
        #expect(await eventually { asker.errors.text.contains("waiting") })
        #expect(try await queue.run("answer", "1", "Cancel").code == 0)
        #expect(await asker.exit() == 10)
    }

    @Test("present --once ends when the queue is empty, also beside another presenter")
    func once() async throws {
        let (here, there) = (try PseudoTerminal(), try PseudoTerminal())
        let alone = try queue.start(["present", "--once"], on: here)
        #expect(await alone.exit() == 0)
        _ = try await queue.run("ask", "First?", "-b", "yes", "--cancel", "no", "--detach")
        _ = try await queue.run("notify", "Second", "--dismiss-after", "50ms")
        let presenter = try queue.start(["present"], on: there)
        #expect(await there.shows("First?"))
        let beside = try queue.start(["present", "--once"], on: here)
        #expect(await here.shows("waiting for a turn"))
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await beside.exit() == 0)
        #expect(try await queue.run("list", "--count").output == "0\n")
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
    }
}
