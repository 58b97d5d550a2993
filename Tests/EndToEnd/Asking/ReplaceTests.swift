import Foundation
import ProcessTesting
import TestSupport
import Testing

/// Questions that take the place of others, through the built command.
@Suite("Replacing a question", .inParallel)
struct ReplaceTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let buttons = ["-b", "yes=Install", "--cancel", "no=Later", "--key", "k"]

    private func ask(_ title: String, _ options: String...) throws -> Child {
        try queue.start(["ask", title] + Self.buttons + options)
    }

    @Test("A command that waits for the old question exits with 13, and names the new one")
    func superseded() async throws {
        let first = try ask("12 updates?")
        #expect(await eventually { first.errors.text.contains("waiting for") })
        let second = try await ask("14 updates?", "--replace", "--detach").finish()
        #expect(second.code == 0 && second.output == "2\n", "\(second)")
        let told = await first.finish()
        #expect(told.code == 13 && told.output.isEmpty, "\(told)")
        #expect(told.errors.contains("superseded by 2"), "\(told)")
        let late = try await queue.run("answer", "1", "yes")
        #expect(late.code == 16 && late.errors.contains("superseded by 2"), "\(late)")
        #expect(try await queue.run("answer", "--key", "k", "yes").code == 0)
        #expect(try await queue.run("collect", "k").output == "yes\n")
        let old = try #require(try await queue.objects("show", "1").first)
        #expect(old["superseded_by"] as? Int == 2 && old["outcome"] as? String == "withdrawn")
        let ids = try await queue.objects("history", "--key", "k").compactMap { $0["id"] as? Int }
        #expect(ids == [2, 1])
        let shown = try await queue.run("show", "1")
        #expect(shown.output.contains("superseded by 2"), "\(shown)")
        let kinds = try await queue.objects("audit", "list", "--alert", "1")
        let events = kinds.compactMap { $0["event"] as? String }
        #expect(events == ["asked", "resolved", "superseded", "collected"])
        #expect(try await queue.rows("SELECT superseded_by FROM history WHERE id = 1") == ["2"])
        #expect(try await queue.isSound())
    }

    @Test("The same question is joined, and its ask goes on waiting")
    func same() async throws {
        let first = try ask("12 updates?")
        #expect(await eventually { first.errors.text.contains("waiting for") })
        let second = try await ask("12 updates?", "--replace", "--detach").finish()
        #expect(second.output == "1\n", "\(second)")
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(await first.finish().code == 10)
    }

    @Test(
        "An answer that came first is kept, and never printed as one to the new question")
    func tooLate() async throws {
        #expect(try await ask("12 updates?", "--detach").finish().code == 0)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let second = try await ask("14 updates?", "--replace").finish()
        #expect(second.code == 16 && second.output.isEmpty, "\(second)")
        #expect(second.errors.contains("alert 1 has an answer that nobody has"), "\(second)")
        #expect(second.errors.contains("alertq collect --id 1 --database "), "\(second)")
        let collected = try await queue.run("collect", "--id", "1")
        #expect(collected.output.contains("yes"), "\(collected)")
        let third = try await ask("14 updates?", "--replace", "--detach").finish()
        #expect(third.code == 0 && third.output == "2\n", "\(third)")
        let old = try #require(try await queue.objects("show", "1").first)
        #expect(old["superseded_by"] as? Int == 2 && old["outcome"] as? String == "answered")
        #expect(try await queue.isSound())
    }

    @Test("A question that is asked every night is asked anew, whatever came of the last one")
    func nightly() async throws {
        func night(_ options: String...) throws -> Child {
            try queue.start(
                ["ask", "Prune?", "-b", "yes=Prune", "--cancel", "no=Keep", "--key", "k"]
                    + ["--replace", "--valid", "1s"] + options)
        }
        let unanswered = try await night("--timeout", "50ms").finish()
        #expect(unanswered.code == 12 && unanswered.output.isEmpty, "\(unanswered)")
        let answered = try night()
        #expect(await eventually { answered.errors.text.contains("waiting for") })
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        let used = await answered.finish()
        #expect(used.code == 0 && used.output == "yes\n", "\(used)")
        #expect(
            try await eventually {
                try await queue.objects("show", "2").first?["stale"] as? Bool == true
            })
        let third = try await night("--detach").finish()
        #expect(third.code == 0 && third.output == "3\n", "\(third)")
        let ids = try await queue.objects("history", "--key", "k").compactMap {
            $0["superseded_by"] as? Int
        }
        #expect(ids == [3, 2])
        #expect(try await queue.isSound())
    }

    @Test("Without a key there is nothing to replace")
    func withoutKey() async throws {
        let refused = try await queue.run("ask", "Go?", "--replace", "--detach")
        #expect(refused.code == 64 && refused.errors.contains("needs --key"), "\(refused)")
    }
}
