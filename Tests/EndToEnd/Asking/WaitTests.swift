import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Waiting for the first response", .inParallel)
struct WaitTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func ask(_ options: String...) async throws {
        let asked = try await queue.start(
            ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No", "--detach"] + options
        ).finish()
        #expect(asked.code == 0)
    }

    private func collectedAt(_ id: String) async throws -> Any? {
        try await queue.objects("show", id).first?["collected_at"]
    }

    private func waiting(_ words: String...) async throws -> Child {
        let child = try queue.start(["wait"] + words)
        #expect(await eventually { child.errors.text.contains("waiting for") })
        return child
    }

    @Test(
        "With one id it prints and exits as the ask would have, and collects what it printed",
        arguments: [
            (["answer", "1", "yes"], Int32(0), "yes\n"), (["answer", "1", "no"], 10, "no\n"),
            (["withdraw", "1"], 13, ""), (["cancel", "1"], 17, ""),
        ])
    func one(verb: [String], code: Int32, output: String) async throws {
        try await ask()
        let wait = try await waiting("1")
        #expect(try await queue.start(verb).finish().code == 0)
        let finished = await wait.finish()
        #expect(finished.code == code && finished.output == output, "\(finished)")
        #expect(try await collectedAt("1") is String)
        #expect(try await queue.run("wait", "1").output == output)
        #expect(try await queue.isSound())
    }

    @Test("With several ids it prints whose response came first, and leaves the others waiting")
    func several() async throws {
        for _ in 1...3 { try await ask() }
        let wait = try await waiting("1", "2", "3")
        #expect(try await queue.run("answer", "2", "no").code == 0)
        let first = await wait.finish()
        #expect(first.code == 10 && first.output == "2\tno\n", "\(first)")
        #expect(try await queue.run("withdraw", "3").code == 0)
        let second = try await queue.run("wait", "1", "3")
        #expect(second.code == 13 && second.output == "3\t\n", "\(second)")
        #expect(try await queue.run("list", "--count").output == "1\n")
    }

    @Test("If several have their responses, the oldest is printed at once")
    func oldest() async throws {
        for _ in 1...3 { try await ask() }
        for id in ["3", "1"] { #expect(try await queue.run("answer", id, "yes").code == 0) }
        #expect(try await queue.run("wait", "1", "2", "3").output == "3\tyes\n")
        let line = try #require(try await queue.objects("wait", "1", "2").first)
        #expect(line["id"] as? Int == 1 && line["button"] as? String == "yes")
    }

    @Test("When the time is up it exits with 15, and collects nothing")
    func timeUp() async throws {
        for _ in 1...2 { try await ask() }
        let one = try await queue.run("wait", "1", "--wait-for", "20ms")
        #expect(one.code == 15 && one.output.isEmpty && one.errors.contains("1 still waits"))
        let two = try await queue.run("wait", "1", "2", "--wait-for", "20ms", "--json")
        #expect(two.code == 15 && two.output.split(separator: "\n").count == 2)
        #expect(two.errors.contains("alerts 1, 2 still wait"))
    }

    @Test("An interruption ends the wait, and withdraws nothing")
    func interrupted() async throws {
        for _ in 1...2 { try await ask() }
        let wait = try await waiting("1", "2")
        wait.kill(SIGINT)
        #expect(await wait.exit() == 128 + SIGINT)
        #expect(try await queue.run("list", "--count").output == "2\n")
    }

    @Test(
        "Unknown alerts, repeated ids and words that are not ids are refused",
        arguments: [
            (["1", "9"], Int32(66), "there is no alert 9"), (["1", "1"], 64, "1 is given twice"),
            (["x"], 64, "is not the id of an alert"), ([], 64, "expected ID"),
            ((1...101).map { "\($0)" }, 64, "101 alerts are too many"),
        ])
    func refused(ids: [String], code: Int32, reason: String) async throws {
        try await ask()
        let finished = try await queue.start(["wait"] + ids).finish()
        #expect(finished.code == code && finished.errors.contains(reason), "\(finished)")
        #expect(finished.output.isEmpty)
    }

    @Test(
        "A response to another account's alert is printed, and left to that account",
        .enabled(if: geteuid() == 0, "only root can become other users"))
    func others() async throws {
        let queue = try CommandLineQueue(sharedBy: 60_010)
        let ana = LinuxAccount(uid: 60_001, gid: 60_010)
        let asked = try await queue.start(["ask", "Q?", "--detach"], as: ana).finish()
        #expect(asked.code == 0, "\(asked)")
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await queue.run("wait", "1").output == "OK\n")
        #expect(try await queue.objects("show", "1").first?["collected_at"] is NSNull)
        #expect(try await queue.start(["wait", "1"], as: ana).finish().output == "OK\n")
        #expect(try await queue.objects("show", "1").first?["collected_at"] is String)
    }

    @Test("A detached ask without a key says at a terminal how to get its response")
    func advice() async throws {
        let asked = try await queue.runInTerminal("ask", "Q?", "--detach")
        #expect(asked.errors.contains("alertq wait 1 --database \(queue.path)"))
        #expect(asked.errors.contains("alertq collect --id 1 --database \(queue.path)"))
        let keyed = try await queue.runInTerminal("ask", "Q?", "--detach", "--key", "k")
        #expect(keyed.code == 0 && !keyed.errors.contains("alertq wait"))
        #expect(try await queue.run("ask", "Q?", "--detach").errors.isEmpty)
    }
}
