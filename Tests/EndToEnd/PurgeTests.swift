import Foundation
import Glibc
import ProcessTesting
import Testing

@Suite("Purge")
struct PurgeTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func story(_ number: Int) async throws {
        let asked = try await queue.run(
            "ask", "SECRET \(number)", "-m", "SECRET message", "-b", "yes=SECRET label", "--cancel",
            "SECRET no", "--info", "a=SECRET info", "--key", "k\(number)", "--detach")
        #expect(asked.code == 0, "\(asked)")
        let id = asked.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await queue.run("answer", id, "yes").code == 0)
        #expect(try await queue.run("collect", "k\(number)").code == 0)
    }

    private func stories(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers { try await story(number) }
    }

    /// The files of the queue in which a text stands, as grep finds it.
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
                of: /the texts of 3 alerts resolved before \S{10} \S{8} would be erased\n/) != nil)
        #expect(try await !grep().isEmpty)
        let purged = try await queue.objects("purge", "--older-than", "now")
        #expect(purged.first?["erased"] as? Int == 3)
        #expect(purged.first?["complete"] as? Bool == true)
        let before = try #require(purged.first?["before"] as? String)
        #expect(
            try Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(before) <= Date())
        #expect(try await grep() == "")
        #expect(try await queue.isSound())
        let again = try await queue.run("ask", "Another", "-b", "x", "--cancel", "y", "--key", "k2")
        #expect(again.output == "yes\n" && again.code == 0)
        let shown = try #require(try await queue.objects("show", "2").first)
        #expect(shown["title"] is NSNull && shown["message"] is NSNull)
        #expect(shown["button"] as? String == "yes")
        let story = try await queue.run("show", "2")
        #expect(story.output.contains("the texts have been erased"))
        #expect(story.output.contains("answered “yes” by"))
        #expect(story.output.contains("button         yes\nbutton         #1 (cancel)\n"))
        #expect(story.output.contains("title          #2\n"))
        let history = try await queue.run("history")
        #expect(history.output.contains("yes\tperson") && history.output.contains("#2"))
        let log = try await queue.run("audit", "list")
        #expect(log.output.contains("erased\t-\troot via purge\talerts 1-3"))
    }

    @Test("Times that are missing, in the future or none are refused")
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

    @Test("A program that keeps reading makes it busy, and a second purge completes it")
    func stuckReader() async throws {
        try await story(1)
        let pipe = Pipe()
        let reader = try Child(
            "sqlite3", [queue.path], input: pipe.fileHandleForReading.fileDescriptor)
        try pipe.fileHandleForWriting.write(
            contentsOf: Data("BEGIN; SELECT count(*) FROM alerts;\n".utf8))
        #expect(await eventually { reader.output.text == "1\n" })
        let purged = try await queue.run("purge", "--older-than", "now")
        #expect(purged.code == 75)
        #expect(purged.errors.contains("keeps reading"))
        #expect(
            try await queue.run("purge", "--older-than", "now", "--dry-run").errors
                .contains("not finished"))
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 75)
        #expect(doctor.output.contains("problem  erasure: a purge has not finished"))
        reader.kill(SIGKILL)
        _ = await reader.exit()
        #expect(try await queue.run("purge", "--older-than", "now").code == 0)
        #expect(try await grep() == "")
        #expect(try await !queue.run("doctor").output.contains("erasure"))
        #expect(try await queue.isSound())
    }

    @Test("What nobody comes for is erased: notices, and what was taken back")
    func nobodyComes() async throws {
        for words in [["-b", "x", "--cancel", "y"], ["--key", "k", "-b", "x", "--cancel", "y"]] {
            _ = try await queue.start(["ask", "SECRET", "--detach"] + words).finish()
        }
        _ = try await queue.run("notify", "SECRET", "--timeout", "1ms")
        for id in ["1", "2"] { #expect(try await queue.run("withdraw", id).code == 0) }
        #expect(await eventually { (try? await queue.objects("history").count) == 3 })
        #expect(try await queue.objects("history", "--uncollected").count == 3)
        let purged = try #require(try await queue.objects("purge", "--older-than", "now").first)
        #expect(purged["erased"] as? Int == 3 && purged["uncollected"] as? Int == 0)
        #expect(try await grep() == "")
        // They stay in the list, and can still be taken.
        #expect(try await queue.objects("history", "--uncollected").count == 3)
        #expect(try await queue.run("collect", "k").code == 13)
        #expect(try await queue.isSound())
    }

    @Test("Killed or interrupted at any moment, purges after each other erase everything")
    func killed() async throws {
        for number in 1...8 { try await story(number) }
        // Many more, of which nothing is known but that they are old.
        _ = try await queue.rows(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
            INSERT INTO alerts (id, source_id, pid, host, style, priority, title, message, buttons,
                info, salt, boot, asked_ms, asked_boot_ms, state)
            SELECT i + 100, 1, 1, 'h', 'alert', 1, 'SECRET ' || i, 'more SECRET ' ||
                hex(randomblob(CASE WHEN i % 50 = 0 THEN 9000 ELSE 40 END)), '[]', '{}', x'00',
                'b', 1, 1, 'resolved' FROM n;
            INSERT INTO responses (alert_id, source, outcome, button_index, resolved_by,
                resolved_ms, collected_ms)
            SELECT id, 'alertq', 'withdrawn', -1, 'asker', id, 1 FROM alerts WHERE id > 100;
            """)
        var (ended, runs) = (false, 0)
        while !ended, runs < 200 {
            runs += 1
            let words =
                runs % 3 == 0
                ? ["history", "--text", "secret"] : ["purge", "--older-than", "now"]
            let child = try queue.start(words)
            let limit = ContinuousClock.now + .milliseconds(Int.random(in: 10...(60 + runs * 20)))
            while ContinuousClock.now < limit, child.poll() == nil {
                try await Task.sleep(for: .milliseconds(1))
            }
            child.kill(runs % 2 == 0 ? SIGKILL : SIGINT)
            ended = await child.exit() == 0 && words.first == "purge"
        }
        #expect(ended && runs > 2, "\(runs)")
        #expect(try await grep() == "")
        #expect(try await queue.rows("PRAGMA integrity_check") == ["ok"])
        let index = "INSERT INTO text_index (text_index) VALUES ('integrity-check'); SELECT 'whole'"
        #expect(try await queue.rows(index) == ["whole"])
        let left = "SELECT count(*) FROM alerts WHERE salt IS NOT NULL"
        #expect(try await queue.rows(left) == ["0"])
    }

    @Test("Askers and answerers go on while a purge runs")
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
