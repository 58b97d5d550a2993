import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Ends of a wait", .inParallel)
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

    @Test("With --quiet stderr gets errors alone, whatever becomes of the alert")
    func quiet() async throws {
        let waiting = try await queue.run("ask", "Q?", "--quiet", "--wait-for", "20ms")
        #expect(waiting.code == 15 && waiting.errors.isEmpty, "\(waiting)")
        let expired = try await queue.run("ask", "Q?", "-q", "--timeout", "20ms")
        #expect(expired.code == 12 && expired.errors.isEmpty, "\(expired)")
        let screen = try await queue.run("notify", "N", "-q", "--on", "nowhere")
        #expect(screen.code == 0 && screen.errors.isEmpty, "\(screen)")
        let asking = try queue.start(["ask", "Q?", "-b", "yes", "-q", "--source", "cron"])
        #expect(
            try await eventually { try await queue.objects("list", "--source", "cron").count == 1 })
        let id = try await queue.objects("list", "--source", "cron").first?["id"] as? Int ?? 0
        #expect(try await queue.run("answer", "\(id)", "yes").code == 0)
        let answered = await asking.finish()
        #expect(answered.output == "yes\n" && answered.errors.isEmpty, "\(answered)")
        let refused = try await queue.run("ask", "", "-q")
        #expect(refused.code == 65 && refused.errors.hasPrefix("alertq: "), "\(refused)")
    }

    @Test("With no process running, an alert past its deadline is listed as expired, not counted")
    func overdue() async throws {
        #expect(try await queue.run("ask", "Later?", "--timeout", "1h", "--detach").code == 0)
        // It is the last one that writes: any later one would store the expiry.
        let asked = try await queue.run(
            "ask", "Q?", "--timeout", "300ms", "--priority", "high", "--detach")
        #expect(asked.code == 0)
        #expect(
            try await eventually {
                try await queue.objects("list").map { $0["outcome"] as? String }
                    == ["expired", nil]
            })
        // The quick count, the count of a manager, and the list itself.
        #expect(try await queue.run("list", "--count").output == "1\n")
        #expect(try await queue.objects("list", "--count").first?["pending"] as? Int == 1)
        let doctor = try await queue.run("doctor").output
        #expect(doctor.contains("; 1 alert waits"), "\(doctor)")
        let one = try await queue.run("list", "--limit", "1")
        #expect(one.errors.contains("of 1 waiting alerts, 0 are listed"), "\(one)")
        #expect(try await queue.run("list", "--limit", "2").errors == "")
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

    @Test("With nobody there, an answer that another question would replace is named as ever")
    func failReplacing() async throws {
        let buttons = ["-b", "yes=Yes", "--cancel", "no=No", "--key", "k"]
        #expect(try await queue.start(["ask", "One?"] + buttons + ["--detach"]).exit() == 0)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let refused = try await queue.start(
            ["ask", "Two?"] + buttons + ["--replace", "--if-unattended", "fail"]
        ).finish()
        #expect(refused.code == 16, "\(refused)")
        #expect(refused.errors.contains("to take it: alertq collect --id 1"), "\(refused)")
    }

    @Test("--if-unattended wait waits for somebody to come")
    func wait() async throws {
        let asker = try queue.start(["ask", "Q?", "--if-unattended", "wait"])
        #expect(await eventually { asker.errors.text.contains("waiting") })
        #expect(try await queue.run("answer", "1", "Cancel").code == 0)
        #expect(await asker.exit() == 10)
    }

    @Test("present --once ends when the queue is empty, even while another presenter runs")
    func once() async throws {
        let (here, there) = (try PseudoTerminal(), try PseudoTerminal())
        let alone = try queue.start(["present", "--once"], on: here)
        #expect(await alone.exit() == 0)
        _ = try await queue.run("ask", "First?", "-b", "yes", "--cancel", "no", "--detach")
        _ = try await queue.run("notify", "Second", "--dismiss-after", "50ms")
        let presenter = try queue.start(["present"], on: there)
        #expect(await there.shows("First?"))
        let beside = try queue.start(["present", "--once"], on: here)
        #expect(await here.shows("First?"))
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await beside.exit() == 0)
        #expect(try await queue.run("list", "--count").output == "0\n")
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
    }
}
