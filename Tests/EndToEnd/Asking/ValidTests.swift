import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Answers that may be used for a limited time, through the built command.
@Suite("Stale answers", .inParallel)
struct ValidTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func ask(_ options: String...) async throws -> Finished {
        try await queue.start(
            ["ask", "Deploy?", "-b", "yes=Deploy", "--cancel", "no=Wait", "--key", "k", "--valid"]
                + options
        ).finish()
    }

    /// Answers an alert, and waits until that is stale.
    private func answerUntilStale(_ id: String, _ button: String = "yes") async throws {
        #expect(try await queue.run("answer", id, button).code == 0)
        #expect(
            try await eventually {
                try await queue.objects("show", id).first?["stale"] as? Bool == true
            })
    }

    @Test(
        "A stale answer is not printed, exits with 18, and is collected with the reason",
        arguments: [["collect", "k"], ["wait", "1"], ["collect", "--id", "1", "--json"]])
    func refused(verb: [String]) async throws {
        #expect(try await ask("300ms", "--detach").code == 0)
        try await answerUntilStale("1")
        for _ in 1...2 {
            let late = try await queue.start(verb).finish()
            #expect(late.code == 18 && late.output.isEmpty, "\(late)")
            #expect(late.errors.contains("the answer to alert 1 is stale"), "\(late)")
        }
        let again = try await ask("300ms")
        #expect(again.code == 18 && again.output.isEmpty, "\(again)")
        let rows = try await queue.rows(
            "SELECT event || coalesce(' ' || detail, '') FROM audit WHERE event = 'collected'")
        #expect(rows == [#"collected {"unused":"stale"}"#])
        #expect(try await queue.objects("history").first?["button"] as? String == "yes")
        #expect(try await queue.isSound())
    }

    @Test("A fresh answer, and a no of any age, are printed")
    func used() async throws {
        #expect(try await ask("1h", "--detach").code == 0)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.run("collect", "k").output == "yes\n")
        let no = try await queue.run(
            "ask", "Again?", "-b", "yes", "--cancel", "no", "--valid", "1ms", "--detach")
        #expect(no.code == 0)
        #expect(try await queue.run("answer", "2", "no").code == 0)
        let collected = try await queue.run("collect", "--id", "2")
        #expect(collected.code == 10 && collected.output == "no\n", "\(collected)")
    }

    @Test("Another validity is another question, and no hook gets a stale answer")
    func others() async throws {
        #expect(try await ask("300ms", "--detach").code == 0)
        let other = try await ask("2h", "--detach")
        #expect(other.code == 16 && other.errors.contains("another validity"), "\(other)")
        try await answerUntilStale("1")
        let mark = queue.directory + "/ran"
        let hook = try queue.start(["watch", "--exec", "/usr/bin/touch", "--", mark])
        #expect(
            try await eventually {
                try await queue.objects("history", "--uncollected").isEmpty
            })
        hook.kill(SIGTERM)
        _ = await hook.exit()
        #expect(access(mark, F_OK) != 0)
    }

    @Test("A run asks again after its answer has become stale, and then uses the new one")
    func run() async throws {
        let words = ["run", "--valid", "300ms", "--", "sh", "-c", "echo $ALERTQ_ALERT"]
        let first = try queue.start(words)
        #expect(await eventually { first.errors.text.contains("alertq answer 1") })
        first.kill(SIGKILL)
        _ = await first.exit()
        try await answerUntilStale("1", "run")
        let second = try queue.start(words)
        #expect(await eventually { second.errors.text.contains("alertq answer 2") })
        #expect(second.errors.text.contains("is stale"))
        #expect(try await queue.run("answer", "2", "run").code == 0)
        let ended = await second.finish()
        #expect(ended.code == 0 && ended.output == "2\n", "\(ended)")
        #expect(try await queue.isSound())
    }

    @Test("With a key a stale answer runs nothing")
    func runWithKey() async throws {
        let words = ["run", "--key", "k", "--json", "--valid", "300ms", "--", "true"]
        let first = try queue.start(words)
        #expect(await eventually { first.errors.text.contains("alertq answer 1") })
        first.kill(SIGKILL)
        _ = await first.exit()
        try await answerUntilStale("1", "run")
        let second = try await queue.start(words).finish()
        #expect(second.code == 125 && second.output.contains(#""reason":"stale""#), "\(second)")
        #expect(try await queue.run("list", "--count").output == "0\n")
    }

    @Test("A run's answer is valid for 15 minutes unless told otherwise")
    func standard() async throws {
        let run = try queue.start(["run", "--", "true"])
        #expect(await eventually { run.errors.text.contains("alertq answer 1") })
        #expect(try await queue.objects("show", "1").first?["valid_ms"] as? Int == 900_000)
        run.kill(SIGTERM)
        _ = await run.exit()
    }
}
