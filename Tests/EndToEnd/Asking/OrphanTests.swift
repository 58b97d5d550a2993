import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Askers that are gone", .inParallel)
struct OrphanTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let buttons = ["-b", "yes=Yes", "--cancel", "no=No"]

    /// An ask that waits for its answer.
    private func asking(_ title: String, _ options: String...) async throws -> Child {
        let asker = try queue.start(["ask", title] + Self.buttons + options)
        #expect(await eventually { asker.errors.text.contains("answer with") })
        return asker
    }

    private func kill(_ asker: Child) async {
        asker.kill(SIGKILL)
        #expect(await asker.exit() == 128 + SIGKILL)
    }

    /// The titles of the questions that are orphaned, as a verb that prints JSON tells.
    private func orphans(_ verb: String...) async throws -> [String] {
        let child = try queue.start(verb + ["--json"])
        let lines = await child.finish().output.split(separator: "\n")
        return try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) }
            .compactMap { $0 as? [String: Any] }
            .filter { $0["orphaned"] as? Bool == true }.compactMap { $0["title"] as? String }
    }

    @Test("Only a question whose last waiting asker was killed is orphaned, and is taken back")
    func killed() async throws {
        let killed = try await asking("Killed?")
        let joined = try await asking("Joined?", "--key", "k")
        let second = try await asking("Joined?", "--key", "k")
        let alive = try await asking("Alive?")
        let limited = try await asking("Limited?", "--wait-for", "1h")
        let detached = try queue.start(["ask", "Detached?", "--detach"] + Self.buttons)
        #expect(await detached.finish().code == 0)
        let other = try await asking("Other?", "--source", "other")
        for asker in [killed, joined, limited, other] { await kill(asker) }
        let mayShow = { try await orphans("list") == ["Killed?", "Other?"] }
        #expect(await !((try? mayShow()) ?? true), "too early")
        #expect(try await eventually(each: .milliseconds(200), mayShow))
        #expect(try await orphans("show", "1", "2", "3", "4", "5", "6") == ["Killed?", "Other?"])
        #expect(try await queue.run("show", "1").output.contains("nobody waits for the answer"))
        #expect(try await !queue.run("show", "2").output.contains("nobody waits"))
        let list = try await queue.run("list").output.split(separator: "\n")
        #expect(list.count { $0.contains("queued, orphaned") } == 2, "\(list)")

        // One that is alive, but stopped, waits.
        try await queue.stopWithoutLock(alive)
        let first = try await queue.run("withdraw", "--orphaned", "--source", "other")
        #expect(first.code == 0 && first.output.isEmpty, "\(first)")
        #expect(first.errors.contains("alert 6: withdrawn"), "\(first)")
        let rest = try await queue.run("withdraw", "--orphaned", "--json")
        #expect(rest.code == 0 && rest.output.contains(#""title":"Killed?""#), "\(rest)")
        let none = try await queue.run("withdraw", "--orphaned")
        #expect(none.code == 0 && none.output.isEmpty && none.errors.isEmpty, "\(none)")
        #expect(try await queue.run("list", "--count").output == "4\n")
        let log = try await queue.run("audit", "list").output
        #expect(log.contains("nobody waited for the answer"), "\(log)")

        alive.kill(SIGCONT)
        #expect(try await queue.run("answer", "2", "3", "yes").code == 0)
        for asker in [second, alive] {
            let finished = await asker.finish()
            #expect(finished.code == 0 && finished.output == "yes\n", "\(finished)")
        }
        #expect(try await queue.isSound())
    }

    @Test("A joined question is orphaned once the second asker is killed, too, until one joins it")
    func joined() async throws {
        let first = try await asking("Q?", "--key", "k")
        let second = try await asking("Q?", "--key", "k")
        await kill(first)
        let wait = try queue.start(["wait", "1"])
        #expect(await eventually { wait.errors.text.contains("answer with") })
        await kill(second)
        // By then an alert that was asked later is orphaned, and this one is not.
        await kill(try await asking("Later?"))
        #expect(
            try await eventually(each: .milliseconds(200)) {
                try await orphans("list") == ["Later?"]
            })
        await kill(wait)
        #expect(try await orphans("list") == ["Q?", "Later?"])
        let third = try await asking("Q?", "--key", "k")
        #expect(try await orphans("list") == ["Later?"])
        #expect(try await queue.run("withdraw", "--orphaned").code == 0)
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(await third.finish().code == 10)
        #expect(try await queue.isSound())
    }

    @Test("A screen says that nobody waits for the answer, as soon as that is known")
    func screen() async throws {
        let asker = try await asking("Q?")
        let terminal = try PseudoTerminal(columns: 120)
        let screen = try await queue.screen(on: terminal)
        #expect(await terminal.shows("Q?"))
        #expect(!terminal.text.contains("nobody waits"))
        await kill(asker)
        #expect(await terminal.shows("nobody waits for the answer"))
        screen.kill(SIGTERM)
        _ = await screen.exit()
    }

    @Test("Options that contradict --orphaned are refused")
    func options() async throws {
        for (words, reason) in [
            (["--orphaned", "1"], "can't be combined with ID or --key"),
            (["--orphaned", "--key", "k"], "can't be combined with ID or --key"),
            ([], "expected ID, --key KEY, or --orphaned"),
            (["--source", "x"], "expected ID, --key KEY, or --orphaned"),
        ] {
            let told = try await queue.start(["withdraw"] + words).finish()
            #expect(told.code == 64 && told.errors.contains(reason), "\(words): \(told)")
        }
        let missing = try await queue.run("withdraw", "--orphaned")
        #expect(missing.code == 66, "\(missing)")
        #expect(!FileManager.default.fileExists(atPath: queue.path))
    }

    @Test(
        "Another account takes back nothing unless forced, and root everything",
        .enabled(if: geteuid() == 0, "needs root"))
    func accounts() async throws {
        let queue = try CommandLineQueue(sharedBy: 60_001)
        let (ana, eve) = (
            LinuxAccount(uid: 60_001, gid: 60_001), LinuxAccount(uid: 60_002, gid: 60_001)
        )
        for (title, account) in [("Ana?", ana), ("Eve?", eve), ("Eve too?", eve)] {
            let asker = try queue.start(["ask", title] + Self.buttons, as: account)
            #expect(await eventually { asker.errors.text.contains("answer with") })
            await kill(asker)
        }
        let count = {
            try await queue.run("list", "--json").output.split(separator: "\n")
                .count { $0.contains(#""orphaned":true"#) }
        }
        #expect(try await eventually(each: .milliseconds(200)) { try await count() == 3 })
        let own = try await queue.start(["withdraw", "--orphaned"], as: ana).finish()
        #expect(own.code == 0 && own.errors.contains("alert 1: "), "\(own)")
        #expect(try await count() == 2)
        let words = ["withdraw", "--orphaned", "--user", "60002"]
        let refused = try await queue.start(words, as: ana).finish()
        #expect(refused.code == 77, "\(refused)")
        #expect(try await count() == 2)
        let forced = try await queue.start(words + ["--force"], as: ana).finish()
        #expect(forced.code == 0, "\(forced)")
        #expect(try await count() == 0)
        #expect(try await queue.isSound())
    }

    /// An account that may read everything and write nothing.
    @Test(
        "An account that only reads is told who waits, unless it can't read the locks' file",
        .enabled(if: geteuid() == 0, "needs root"))
    func reader() async throws {
        let asker = try await asking("Alive?")
        await kill(try await asking("Killed?"))
        #expect(
            try await eventually(each: .milliseconds(200)) {
                try await orphans("list") == ["Killed?"]
            })
        let fileManager = FileManager.default
        chmod(queue.directory, 0o755)
        for name in try fileManager.contentsOfDirectory(atPath: queue.directory) {
            chmod(queue.directory + "/" + name, 0o644)
        }
        let reader = LinuxAccount(uid: 60_001, gid: 60_001)
        let list = { try await queue.start(["list"], as: reader).finish() }
        let told = try await list()
        #expect(told.output.contains("orphaned\tyes,no\tKilled?"), "\(told)")
        #expect(told.output.contains("queued\tyes,no\tAlive?"), "\(told)")
        chmod(queue.path + "-leases", 0o600)
        let untold = try await list()
        #expect(untold.code == 0 && untold.output.contains("Killed?"), "\(untold)")
        #expect(!untold.output.contains("orphaned"), "\(untold)")
        asker.kill(SIGTERM)
        _ = await asker.exit()
    }
}
