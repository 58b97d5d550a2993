import ProcessTesting
import TestSupport
import Testing

/// The control of every test here: the check that they end with finds what is wrong.
@Suite("Check for a clean queue", .inParallel)
struct CleanCheckTests {
    private let queue: CommandLineQueue
    private let ledger = Ledger()

    /// Alert 1 is answered and collected, alert 2 waits.
    init() async throws {
        queue = try CommandLineQueue()
        let ask = ["ask", "Q", "-b", "yes", "--cancel", "no", "--key", "q", "--json"]
        for words in [ask + ["--detach"], ["answer", "1", "yes", "--json"], ask] {
            let finished = try await queue.start(words).finish()
            try #require(finished.code == 0, "\(finished.errors)")
            ledger.note(lines: finished.output)
        }
        let told = try await queue.run("notify", "Told", "--json")
        ledger.note(lines: told.output)
        try #require(ledger.all.asked.count == 2 && ledger.all.answered.count == 1)
    }

    @Test("It finds nothing wrong with a queue where all went well")
    func clean() async throws {
        #expect(try await queue.faults(against: ledger) == [])
    }

    @Test("It finds what was acknowledged and is not there, or is not what was acknowledged")
    func lost() async throws {
        let lost = Ledger(ledger.all)
        lost.note(ask: 3, title: "Lost")
        #expect(try await queue.faults(against: lost) == ["lost or changed: ask|3|Lost"])
        let unanswered = Ledger(ledger.all)
        unanswered.note(answer: "yes", to: 2)
        #expect(try await queue.faults(against: unanswered) == ["lost or changed: answer|2|yes"])
        let twice = Ledger(ledger.all)
        twice.note(answer: "no", to: 1)
        #expect(try await queue.faults(against: twice).count == 2)
    }

    @Test(
        "It finds rows that contradict each other",
        arguments: [
            "UPDATE sources SET pending = pending + 1",
            "UPDATE alerts SET state = 'resolved' WHERE id = 2",
            "UPDATE alerts SET state = 'queued' WHERE id = 1",
            "UPDATE alerts SET title = 'Another question' WHERE id = 2",
            "DELETE FROM responses",
            "UPDATE responses SET collected_ms = NULL",
            "UPDATE responses SET button_index = 1",
            "DELETE FROM audit WHERE event = 'collected'",
            "DELETE FROM audit WHERE alert_id = 2",
            "DELETE FROM alerts WHERE id = 2",
        ])
    func contradictions(sql: String) async throws {
        try await queue.forge(sql)
        #expect(try await queue.faults(against: ledger) != [])
    }
}
