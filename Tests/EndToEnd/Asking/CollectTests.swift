import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Collecting by key", .inParallel)
struct CollectTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func ask(_ options: String...) async throws {
        let asked = try await queue.start(
            ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No", "--key", "k", "--detach"]
                + options
        ).finish()
        #expect(asked.code == 0)
    }

    @Test(
        "A response gives the output and the exit code that the ask would have given",
        arguments: [
            (["answer", "1", "yes"], Int32(0), "yes\n"), (["answer", "1", "no"], 10, "no\n"),
            (["withdraw", "1"], 13, ""), (["cancel", "1"], 17, ""),
        ])
    func resolved(verb: [String], code: Int32, output: String) async throws {
        try await ask()
        #expect(try await queue.start(verb).finish().code == 0)
        for _ in 1...2 {
            let collected = try await queue.run("collect", "k")
            #expect(collected.code == code && collected.output == output, "\(collected)")
        }
        let entries = try await queue.objects("audit", "list")
        #expect(entries.count { $0["event"] as? String == "collected" } == 1)
        #expect(try await queue.isSound())
    }

    @Test("An expiry is collected with its default, or, without one, as an expiry")
    func expired() async throws {
        try await ask("--timeout", "10ms")
        #expect(await eventually { (try? await queue.run("collect", "k").code) == 12 })
        _ = try await queue.run(
            "ask", "Go?", "-b", "yes", "--cancel", "no", "--key", "d", "--timeout", "10ms",
            "--default", "yes", "--detach")
        #expect(await eventually { (try? await queue.run("collect", "d").output) == "yes\n" })
        let line = try #require(try await queue.objects("collect", "d").first)
        #expect(line["outcome"] as? String == "expired" && line["by"] as? String == "policy")
    }

    @Test("Without a response it says so and exits with 15, and collects nothing")
    func waiting() async throws {
        try await ask()
        let finished = try await queue.run("collect", "k", "--wait-for", "20ms")
        #expect(finished.code == 15 && finished.output.isEmpty)
        #expect(finished.errors.contains("alert 1 still waits"))
        let line = try #require(try await queue.objects("collect", "k").first)
        #expect(line["state"] as? String == "queued")
    }

    @Test("collect waits for at most the given time, and takes the answer when it comes")
    func waitsFor() async throws {
        try await ask()
        let collecting = try queue.start(["collect", "k", "--wait-for", "1h"])
        #expect(await eventually { collecting.errors.text.contains("waiting") })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let finished = await collecting.finish()
        #expect(finished.code == 0 && finished.output == "yes\n")
        let line = try #require(try await queue.objects("show", "1").first)
        #expect(line["collected_at"] is String)
    }

    @Test("An interruption ends the wait, and leaves the alert where it is")
    func interrupted() async throws {
        try await ask()
        let collecting = try queue.start(["collect", "k", "--wait-for", "1h"])
        #expect(await eventually { collecting.errors.text.contains("waiting") })
        collecting.kill(SIGTERM)
        #expect(await collecting.exit() == 128 + SIGTERM)
        #expect(try await queue.run("list", "--count").output == "1\n")
    }

    @Test("An unknown key exits with 66, and so does a key of another source")
    func notFound() async throws {
        #expect(try await queue.run("collect", "k").code == 66)
        try await ask("--source", "backup")
        let finished = try await queue.run("collect", "k")
        #expect(finished.code == 66 && finished.errors.contains("--source"))
        #expect(try await queue.run("collect", "k", "--source", "backup").code == 15)
        let named = try queue.start(["collect", "k"], environment: ["ALERTQ_SOURCE": "backup"])
        #expect(await named.exit() == 15)
    }

    @Test("A response that could not be written is not collected")
    func fullOutput() async throws {
        try await ask()
        _ = try await queue.run("answer", "1", "yes")
        let shell = try Child(
            "sh", ["-c", "exec \(CommandLineQueue.program) collect k > /dev/full"],
            environment: ["ALERTQ_DATABASE": queue.path])
        #expect(await shell.exit() == 74)
        #expect(try await queue.objects("history", "--uncollected").count == 1)
        #expect(try await queue.run("collect", "k").output == "yes\n")
        #expect(try await queue.objects("history", "--uncollected").isEmpty)
    }
}
