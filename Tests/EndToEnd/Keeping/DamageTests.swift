import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Damage", .inParallel)
struct DamageTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func removeDatabase() throws {
        for ending in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: queue.path + ending)
        }
    }

    @Test("A database that replaces another never answers the other's questions")
    func replacedUnderAsker() async throws {
        let cat = try queue.start(["ask", "Show a cat?", "-b", "yes", "--cancel", "no"])
        #expect(await eventually { cat.errors.text.contains("answer with") })
        try removeDatabase()
        let disk = try queue.start(["ask", "Erase the disk?", "-b", "yes", "--cancel", "no"])
        #expect(await eventually { disk.errors.text.contains("answer with") })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await disk.exit() == 0)
        #expect(await cat.exit() == 74)
        #expect(await cat.output.complete().isEmpty)
        // It may have looked between the two files, or when the new one was still empty.
        let errors = await cat.errors.complete()
        let reasons = ["is no longer the queue that was opened", "deleted"]
        #expect(reasons.contains { errors.contains($0) }, "\(errors)")
    }

    @Test("A key pressed for a question of a replaced database answers nothing")
    func replacedUnderPresenter() async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("showing alerts"))
        _ = try await queue.run("ask", "Show a cat?", "-b", "yes", "--cancel", "no", "--detach")
        #expect(await terminal.shows("Show a cat?"))
        try removeDatabase()
        let disk = try await queue.run(
            "ask", "Erase the disk?", "-b", "yes", "--cancel", "no", "--detach")
        #expect(disk.code == 0)
        for _ in 0..<2 {
            try await Task.sleep(for: .milliseconds(1000))
            try terminal.type("y")
        }
        try await Task.sleep(for: .milliseconds(300))
        #expect(!terminal.text.contains("✓"))
        let alert = try #require(try await queue.objects("show", "1").first)
        #expect(alert["title"] as? String == "Erase the disk?")
        #expect(alert["outcome"] as? String == nil)
        presenter.kill(SIGKILL)
    }

    @Test("An ask whose database was deleted ends with an error, not with an answer")
    func deleted() async throws {
        let asker = try queue.start(["ask", "Well?", "-b", "yes", "--cancel", "no"])
        #expect(await eventually { asker.errors.text.contains("answer with") })
        try removeDatabase()
        let end = await asker.finish()
        #expect(end.code == 74 && end.errors.contains("deleted"), "\(end)")
    }

    @Test("A lock that is held for longer than the busy time leads to exit code 75, not a crash")
    func busy() async throws {
        #expect(try await queue.run("notify", "First").code == 0)
        let holder = try Child("flock", ["-F", queue.path + "-lock", "sleep", "60"])
        #expect(
            try await eventually {
                let probe = try Child("flock", ["-n", queue.path + "-lock", "true"])
                return probe.wait() == 1
            })
        let child = try queue.start(["notify", "Second"])
        #expect(await child.exit() == 75)
        #expect(await child.errors.complete().contains("locked by another process"))
        holder.kill(SIGKILL)
    }

    @Test(
        "A link next to the database is refused, and its target stays as it is",
        arguments: ["-lock", "-slot", "-bell", "-reserve", "-leases"])
    func link(ending: String) async throws {
        #expect(try await queue.run("notify", "First").code == 0)
        let victim = queue.directory + "/victim"
        try "untouched".write(toFile: victim, atomically: true, encoding: .utf8)
        try? FileManager.default.removeItem(atPath: queue.path + ending)
        try FileManager.default.createSymbolicLink(
            atPath: queue.path + ending, withDestinationPath: victim)
        let finished = try await queue.run("ask", "Second?", "--detach")
        // Whatever needs no such file still works.
        #expect([0, 77].contains(finished.code))
        _ = try await queue.run("answer", "2", "OK")
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "untouched")
    }
}
