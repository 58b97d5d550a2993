import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Who deals with an alert that waits.
@Suite("Claims", .inParallel)
struct ClaimTests {
    private static let group: gid_t = 60_010
    private static let ana = LinuxAccount(uid: 60_001, gid: group)
    private static let ben = LinuxAccount(uid: 60_002, gid: group)

    private func ask(_ queue: CommandLineQueue, _ title: String = "Prune?") async throws {
        let asked = try await queue.run("ask", title, "-b", "yes=Yes", "--detach")
        #expect(asked.code == 0, "\(asked)")
    }

    @Test("A claim is shown on every screen as it comes and goes, and answers nothing")
    func screens() async throws {
        let queue = try CommandLineQueue()
        try await ask(queue)
        let terminal = try PseudoTerminal(columns: 200)
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("Prune?"))
        #expect(!terminal.text.contains("claimed by"))
        let claimed = try await queue.runInTerminal("claim", "1", "--for", "1h")
        #expect(claimed.code == 0 && claimed.errors.contains("alert 1 is claimed by"), "\(claimed)")
        #expect(await terminal.shows("claimed by"))
        #expect(try await queue.run("list").output.contains("presented, claimed by "))
        #expect(try await queue.run("show", "1").output.contains(/(?m)^claimed +by .* until [0-9]/))
        let other = try PseudoTerminal(columns: 200)
        let second = try queue.start(["present"], on: other)
        #expect(await other.shows("claimed by"))
        let released = try await queue.runInTerminal("claim", "1", "--release")
        #expect(released.errors.contains("nobody deals with alert 1"), "\(released)")
        let record = try #require(try await queue.objects("list").first)
        #expect(record["claimed_by"] is NSNull && record["claimed_until"] is NSNull)
        #expect(try await queue.run("claim", "1", "--for", "100ms").code == 0)
        #expect(
            try await eventually {
                try await queue.objects("list").first?["claimed_until"] is NSNull
            })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let late = try await queue.run("claim", "1")
        #expect(late.code == 16 && late.errors.contains("already ended"), "\(late)")
        for child in [presenter, second] {
            child.kill(SIGTERM)
            _ = await child.exit()
        }
        let events = try await queue.objects("audit", "list").compactMap { $0["event"] as? String }
        #expect(events.filter { $0 == "claimed" }.count == 2 && events.contains("released"))
        #expect(try await queue.isSound())
    }

    @Test(
        "Another account's claim stands unless it is taken by force; an account may renew its own",
        .enabled(if: geteuid() == 0, "only root can become other users"))
    func accounts() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        try await ask(queue)
        let claim = { (words: [String], account: LinuxAccount) in
            try await queue.start(["claim", "1", "--json"] + words, as: account).finish()
        }
        #expect(try await claim([], Self.ana).code == 0)
        for words in [[], ["--release"]] {
            let refused = try await claim(words, Self.ben)
            #expect(refused.code == 16 && refused.output.contains("60001"), "\(refused)")
            #expect(refused.errors.contains("alert 1 is claimed by uid 60001 until"), "\(refused)")
        }
        #expect(try await claim(["--for", "2h"], Self.ana).code == 0)
        let forced = try await claim(["--force"], Self.ben)
        #expect(forced.code == 0 && forced.output.contains(#""claimed_by":{"uid":60002"#))
        // Root of the machine has a right over its accounts.
        #expect(try await queue.run("claim", "1", "--release").code == 0)
        #expect(try await claim([], Self.ana).code == 0)
    }
}
