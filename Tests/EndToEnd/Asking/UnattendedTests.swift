import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Questions that nobody is there to see", .inParallel)
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

    /// Waits until another question, in an unattended queue, has got its default.
    private func anUnattendedTime(_ time: String) async throws {
        let other = try CommandLineQueue()
        let asker = try other.start(Self.question + ["--unattended-after", time])
        #expect(await asker.exit() == 10)
    }

    @Test("The default is applied by policy when nobody comes, and the log records why")
    func nobody() async throws {
        let asked = try await queue.start(
            Self.question + ["--unattended-after", "200ms"]
        ).finish()
        #expect(asked.code == 10 && asked.output == "no\n", "\(asked)")
        #expect(try await isExpiredByPolicy())
        let entries = try await queue.objects("audit", "list")
        let resolved = try #require(entries.first { $0["event"] as? String == "resolved" })
        let detail = try #require(resolved["detail"] as? [String: Any])
        #expect(detail["nobody_there"] as? Bool == true && detail["unseen"] as? Bool == true)
        #expect(try await queue.isSound())
    }

    @Test("With --json the object distinguishes policy from person")
    func json() async throws {
        let asked = try await queue.start(
            Self.question + ["--unattended-after", "100ms", "--json"]
        ).finish()
        #expect(asked.code == 10)
        #expect(asked.output.contains(#""outcome":"expired","button":"no""#))
        #expect(asked.output.contains(#""by":"policy","responder":null"#))
    }

    @Test("Without --unattended-after the timeout counts, even if somebody is there")
    func timeout() async throws {
        let asked = try await queue.run(
            "ask", "Go?", "-b", "yes", "--cancel", "no", "--default", "yes", "--timeout", "200ms",
            "--if-unattended", "default")
        #expect(asked.code == 0 && asked.output == "yes\n")
    }

    @Test("While somebody is there, the default is not applied, and they can decide")
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

    @Test("A presenter that comes in time stops the countdown, which restarts when it is killed")
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

    @Test("A killed asker leaves the alert waiting, and the same command continues to watch")
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

    @Test("An answer and the default race; one of them wins, and the log records which")
    func race() async throws {
        var random = TestRandom()
        for id in 1...10 {
            let asker = try queue.start(Self.question + ["--unattended-after", "60ms"])
            #expect(await eventually { asker.errors.text.contains("waiting") })
            usleep(.random(in: 0...60_000, using: &random))
            let answer = try await queue.run("answer", "\(id)", "yes")
            let asked = await asker.finish()
            #expect(answer.code == (asked.code == 0 ? 0 : 16), "\(answer) \(asked)")
            #expect(asked.output == (asked.code == 0 ? "yes\n" : "no\n"))
        }
        #expect(try await queue.isSound())
    }
}
