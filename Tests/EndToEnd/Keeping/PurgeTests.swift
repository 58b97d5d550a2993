import AlertQueue
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Purge", .inParallel)
struct PurgeTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Asks, or asks again, the questions of the test.
    private func ask(_ number: Int, _ options: String...) async throws -> Finished {
        let words = [
            "ask", "SECRET \(number)", "-m", "SECRET message", "-b", "yes=SECRET label", "--cancel",
            "SECRET no", "--info", "a=SECRET info", "--key", "k\(number)",
        ]
        return try await queue.start(words + options).finish()
    }

    private func story(_ number: Int) async throws {
        let asked = try await ask(number, "--detach")
        #expect(asked.code == 0, "\(asked)")
        let id = asked.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await queue.run("answer", id, "yes").code == 0)
        #expect(try await queue.run("collect", "k\(number)").code == 0)
    }

    private func stories(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers { try await story(number) }
    }

    /// Asks many more, with texts of all lengths, and withdraws them.
    private func fill(_ count: Int) async throws {
        let manager = try await AlertManager(path: queue.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<50 {
                group.addTask {
                    for number in stride(from: lane, to: count, by: 50) {
                        let pieces = (0..<(lane == 0 ? 500 : 2)).map { _ in "\(UUID())" }
                        let message = "more SECRET " + pieces.joined(separator: " ")
                        let alert = Alert("SECRET \(number)", message: message)
                        let id = try await manager.show(alert)
                        try await manager.withdraw(id)
                    }
                }
            }
            try await group.waitForAll()
        }
        await manager.close()
    }

    /// The files of the queue in which grep finds a text.
    private func grep() async throws -> String {
        let grep = try Child("grep", ["-rail", "SECRET", queue.directory])
        _ = await grep.exit()
        return await grep.output.complete()
    }

    @Test("After a purge grep finds no text, the log verifies, and a key finds its response")
    func purge() async throws {
        for number in 1...3 { try await story(number) }
        #expect(
            try await queue.run("history", "--text", "secret message").output.contains("SECRET"))
        let dry = try await queue.run("purge", "--older-than", "now", "--dry-run")
        #expect(
            dry.output.wholeMatch(
                of: /the texts of 3 alerts resolved before \S{23}Z would be erased\n/)
                != nil)
        #expect(try await !grep().isEmpty)
        let purged = try await queue.objects("purge", "--older-than", "now")
        #expect(purged.first?["erased"] as? Int == 3)
        #expect(purged.first?["complete"] as? Bool == true)
        let before = try #require(purged.first?["before"] as? String)
        #expect(
            try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(before) <= Date())
        #expect(try await grep() == "")
        #expect(try await queue.isSound())
        let again = try await ask(2)
        #expect(again.output == "yes\n" && again.code == 0)
        // The log keeps a hash of the key's content.
        #expect(try await queue.run("ask", "Another", "--key", "k2").code == 16)
        let shown = try #require(try await queue.objects("show", "2").first)
        #expect(shown["title"] is NSNull && shown["message"] is NSNull)
        #expect(shown["button"] as? String == "yes")
        let story = try await queue.run("show", "2")
        #expect(story.output.contains("the texts have been erased"))
        #expect(story.output.contains("answered “yes” by"))
        #expect(story.output.contains("button         yes\nbutton         #1 (cancel)\n"))
        #expect(story.output.contains("title          #2\n"))
        let history = try await queue.run("history")
        #expect(history.output.contains("yes\tprogram") && history.output.contains("#2"))
        let log = try await queue.run("audit", "list")
        #expect(log.output.contains("erased\t-\troot via purge\talerts 1-3"))
    }

    @Test("No text that was typed or printed gets into the log's details, where a purge leaves it")
    func details() async throws {
        // Not where grep looks: what the programs themselves are made of is nobody's text.
        let elsewhere = try CommandLineQueue()
        let schema = #"{"properties":{"pin":{"type":"string","pattern":"^SECRET[0-9]+$"}}}"#
        let asked = try await queue.run(
            "ask", "SECRET", "-b", "yes=SECRET", "--cancel", "no", "--schema", schema, "--detach")
        #expect(asked.code == 0, "\(asked)")
        let replies = [
            #"{"button":"yes","values":{"pin":"SECRET"}}"#, "SECRET yes",
            #"{"button":"yes","values":{"SECRET":"x"}}"#,
        ]
        for (number, reply) in replies.enumerated() {
            let show = try elsewhere.script(
                "show\(number)", "cat >/dev/null; echo SECRET >&2; echo '\(reply)'")
            let presenter = try queue.start(["present", "--on", "command:\(show)"])
            let isLeft = await eventually {
                (try? await queue.rows("SELECT 1 FROM audit WHERE event = 'returned'"))?.count
                    == number + 1
            }
            #expect(isLeft, "\(presenter.errors.text)")
            presenter.kill(SIGTERM)
            _ = await presenter.exit()
            // Whoever has written it needs to see it.
            #expect(presenter.errors.text.contains("SECRET"))
        }
        #expect(try await queue.run("answer", "1", "yes", "--set", "pin=SECRET").code == 65)
        #expect(
            try await queue.run(
                "answer", "1", "yes", "--set", "pin=SECRET1", "--note", "SECRET"
            ).code == 0)
        #expect(try await queue.run("collect", "--id", "1").code == 0)
        // A command that can't be started, and one that is another file by then.
        let program = try elsewhere.script("SECRET", "true")
        try Data("true\n".utf8).write(to: URL(filePath: program))
        for id in 2...3 {
            let child = try queue.start(["run", "-m", "SECRET", "--", program, "SECRET"])
            #expect(await eventually { child.errors.text.contains("answer with") })
            if id == 3 {
                unlink(program)
                symlink("/bin/true", program)
            }
            #expect(try await queue.run("answer", "\(id)", "run").code == 0)
            #expect(await child.exit() == 125)
        }
        let details = try await queue.rows(
            "SELECT detail FROM audit WHERE event IN ('returned', 'ran') ORDER BY seq")
        #expect(details.count == replies.count + 4 && !details.joined().contains("SECRET"))
        #expect(try await queue.run("purge", "--older-than", "now").code == 0)
        #expect(try await grep() == "")
        #expect(try await queue.isSound())
    }

    @Test(
        "By a clock that was set years ahead nothing is erased, unless that is forced",
        .enabled(if: geteuid() == 0, "needs root"),
        .enabled(if: Tool.canFakeClocks, "needs the package faketime, and no sanitizer"))
    func clockAhead() async throws {
        try await story(1)
        func purge(
            _ options: String..., under words: [String] = []
        ) async throws -> Finished {
            try await queue.start(
                ["purge", "--older-than", "365d"] + options,
                under: words + ["faketime", "-f", "+5y"],
                environment: ["FAKETIME_DONT_FAKE_MONOTONIC": "1"]
            ).finish()
        }
        let refused = try await purge()
        #expect(refused.code == 75, "\(refused)")
        #expect(refused.errors.contains("by the time since entry 1 of the log it is"), "\(refused)")
        #expect(refused.errors.contains("add --force"), "\(refused)")
        let dry = try await purge("--dry-run")
        #expect(dry.code == 0 && dry.errors.contains("add --force"), "\(dry)")
        #expect(try await queue.run("history").output.contains("SECRET"))
        // By the right clock nothing is old; a date that was typed is the same by any.
        #expect(try await queue.run("purge", "--older-than", "365d").code == 0)
        // A machine that has been up for years: libfaketime shifts timers as far as the wall clock,
        // and before its start they would never fire.
        let upForYears = [
            "unshare", "--time", "--boottime", "300000000", "--monotonic", "300000000",
        ]
        let forced = try await purge("--force", under: upForYears)
        #expect(forced.code == 0, "\(forced)")
        #expect(try await !queue.run("history").output.contains("SECRET"))
    }

    @Test("Missing, future and invalid times are refused")
    func refused() async throws {
        try await story(1)
        for words in [
            ["purge"], ["purge", "--older-than", "2999-01-01"], ["purge", "--older-than", "x"],
        ] {
            let child = try await queue.start(words).finish()
            #expect(child.code == 64, "\(child)")
            #expect(child.errors.contains("--older-than"))
        }
        let elsewhere = try await CommandLineQueue().run("purge", "--older-than", "1d")
        #expect(elsewhere.code == 66)
    }

    @Test("A purge is busy while a program keeps reading, and a second purge completes it")
    func stuckReader() async throws {
        try await story(1)
        let reader = try await QueueReader(of: queue)
        let purged = try await queue.run("purge", "--older-than", "now")
        #expect(purged.code == 75)
        #expect(purged.errors.contains("keeps reading"))
        #expect(
            try await queue.run("purge", "--older-than", "now", "--dry-run").errors
                .contains("not finished"))
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 75)
        #expect(doctor.output.contains("problem  erasure: a purge has not finished"))
        await reader.end()
        #expect(try await queue.run("purge", "--older-than", "now").code == 0)
        #expect(try await grep() == "")
        #expect(try await !queue.run("doctor").output.contains("erasure"))
        #expect(try await queue.isSound())
    }

    @Test("Alerts that need no collecting are erased: notices and withdrawn alerts")
    func nobodyComes() async throws {
        for words in [["-b", "x", "--cancel", "y"], ["--key", "k", "-b", "x", "--cancel", "y"]] {
            _ = try await queue.start(["ask", "SECRET", "--detach"] + words).finish()
        }
        _ = try await queue.run("notify", "SECRET", "--timeout", "1ms")
        for id in ["1", "2"] { #expect(try await queue.run("withdraw", id).code == 0) }
        #expect(try await queue.objects("history").count == 3)
        #expect(try await queue.objects("history", "--uncollected").count == 3)
        let purged = try #require(try await queue.objects("purge", "--older-than", "now").first)
        #expect(purged["erased"] as? Int == 3 && purged["uncollected"] as? Int == 0)
        #expect(try await grep() == "")
        // They stay in the history, and can still be collected.
        #expect(try await queue.objects("history", "--uncollected").count == 3)
        #expect(try await queue.run("collect", "k").code == 13)
        #expect(try await queue.isSound())
    }

    @Test("The note on alerts that are passed over says how to release them for erasing")
    func released() async throws {
        #expect(try await queue.run("ask", "SECRET", "--detach").code == 0)
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        let first = try await queue.run("purge", "--older-than", "now")
        #expect(first.errors.contains("1 passed over, because the response has not been collected"))
        #expect(first.errors.contains("alertq collect --id ID --database \(queue.path)"))
        #expect(try await queue.run("collect", "--id", "1").code == 0)
        let second = try await queue.run("purge", "--older-than", "now")
        #expect(second.output.contains("the texts of 1 alert") && second.errors.isEmpty)
        #expect(try await grep() == "")
    }

    @Test("Responses left to a named handler are counted apart, and can be collected")
    func handled() async throws {
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show(
            Alert("SECRET", buttons: ["OK"], handler: "gone"))
        try await manager.answer(id, button: "OK")
        await manager.close()
        let first = try await queue.run("purge", "--older-than", "now")
        #expect(first.errors.contains("1 passed over, because a named handler has not run"))
        #expect(!first.errors.contains("has not been collected"))
        let object = try #require(try await queue.objects("purge", "--older-than", "now").first)
        #expect(object["uncollected"] as? Int == 1 && object["handled"] as? Int == 1)
        let left = try await queue.run("collect", "--id", "1")
        #expect(left.output == "OK\n" && left.errors.contains("left to the handler “gone”"))
        #expect(try await queue.run("collect", "--id", "1", "--handled").output == "OK\n")
        #expect(try await queue.run("purge", "--older-than", "now").errors.isEmpty)
        #expect(try await grep() == "")
    }

    @Test(
        "Alerts of other accounts are passed over and counted, except by root",
        .enabled(if: geteuid() == 0, "only root can become other users"))
    func others() async throws {
        let queue = try CommandLineQueue(sharedBy: 60_010)
        let accounts = [
            LinuxAccount(uid: 60_001, gid: 60_010), LinuxAccount(uid: 60_002, gid: 60_010),
        ]
        for account in accounts + [accounts[1]] {
            let notified = try queue.start(["notify", "SECRET", "--timeout", "1ms"], as: account)
            #expect(await notified.exit() == 0)
        }
        // Each has stored the expiry of the one before.
        #expect(try await queue.run("wait", "3").code == 12)
        #expect(try await queue.objects("history").count == 3)
        let purge = ["purge", "--older-than", "now"]
        let dry = try await queue.start(purge + ["--dry-run"], as: accounts[0]).finish()
        #expect(dry.output.contains("the texts of 1 alert resolved"))
        #expect(dry.errors.contains("2 passed over, because other accounts asked them"))
        let purged = try await queue.start(purge + ["--json"], as: accounts[0]).finish()
        let counts = #""erased":1,"uncollected":0,"others":2,"contradicted":0,"complete":true"#
        #expect(purged.output.contains(counts))
        #expect(try await queue.rows("SELECT id FROM alerts WHERE title IS NULL") == ["1"])
        let rest = try #require(try await queue.objects("purge", "--older-than", "now").first)
        #expect(rest["erased"] as? Int == 2 && rest["others"] as? Int == 0)
        #expect(try await queue.isSound())
    }

    @Test("Repeated purges, killed or interrupted at any moment, erase everything")
    func killed() async throws {
        for number in 1...8 { try await story(number) }
        try await fill(3000)
        var (ended, runs) = (false, 0)
        var random = TestRandom()
        while !ended, runs < 200 {
            runs += 1
            let words =
                runs % 3 == 0
                ? ["history", "--text", "secret"] : ["purge", "--older-than", "now"]
            let child = try queue.start(words)
            let time = Int.random(in: 10...(60 + runs * 20), using: &random)
            let limit = ContinuousClock.now + .milliseconds(time)
            while ContinuousClock.now < limit, child.poll() == nil {
                try await Task.sleep(for: .milliseconds(1))
            }
            child.kill(runs % 2 == 0 ? SIGKILL : SIGINT)
            ended = await child.exit() == 0 && words.first == "purge"
        }
        #expect(ended && runs > 2, "\(runs)")
        #expect(try await grep() == "")
        #expect(try await queue.isSound())
        let index = "INSERT INTO text_index (text_index) VALUES ('integrity-check'); SELECT 'whole'"
        #expect(try await queue.rows(index) == ["whole"])
        let left = "SELECT count(*) FROM alerts WHERE salt IS NOT NULL"
        #expect(try await queue.rows(left) == ["0"])
    }

    @Test("--no-vacuum leaves the erasure open, doctor says so, and the next purge finishes it")
    func noVacuum() async throws {
        for number in 1...3 { try await story(number) }
        let purge = ["purge", "--older-than", "now"]
        let left = try await queue.start(purge + ["--no-vacuum"]).finish()
        #expect(left.code == 0 && left.output.contains("the texts of 3 alerts"))
        #expect(left.errors.contains("a purge without --no-vacuum removes them"))
        #expect(try await queue.objects("history", "--text", "secret").isEmpty)
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 75 && doctor.output.contains("problem  erasure: "), "\(doctor)")
        let purged = try #require(try await queue.objects("purge", "--older-than", "now").first)
        #expect(purged["erased"] as? Int == 0 && purged["complete"] as? Bool == true)
        #expect(try await grep() == "")
        #expect(try await queue.run("doctor").code == 0)
        #expect(try await queue.run("purge", "--older-than", "1d", "--dry-run").errors.isEmpty)
        let both = try await queue.start(purge + ["--no-vacuum", "--dry-run"]).finish()
        #expect(both.code == 64)
    }

    @Test("While a purge rewrites the database, commands wait longer, and say for what")
    func rewriting() async throws {
        #expect(try await ask(1, "--detach").code == 0)
        let rewriter = try await queue.rewriter()
        let asks = try queue.start(["ask", "Meanwhile", "--detach"])
        let answers = try queue.start(["answer", "1", "yes"])
        let name = "process \(rewriter.pid) (python3)"
        for child in [asks, answers] {
            let note = "alertq: waiting until \(name) has rewritten the database for a purge\n"
            #expect(await eventually { child.errors.text == note }, "\(child.errors.text)")
        }
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 0 && doctor.output.contains("\(name) rewrites the database"))
        // Longer than for any other lock.
        try await Task.sleep(for: .seconds(6))
        #expect(asks.poll() == nil && answers.poll() == nil)
        rewriter.kill(SIGKILL)
        #expect(await asks.exit() == 0)
        #expect(await answers.exit() == 0)
    }

    @Test("Asking and answering continue while a purge runs")
    func racing() async throws {
        for number in 1...20 { try await story(number) }
        async let stories: Void = stories(21...40)
        for _ in 0..<6 {
            #expect(try await queue.run("purge", "--older-than", "now").code == 0)
        }
        try await stories
        #expect(try await queue.run("purge", "--older-than", "now").code == 0)
        #expect(try await grep() == "")
        #expect(try await queue.isSound())
    }
}
