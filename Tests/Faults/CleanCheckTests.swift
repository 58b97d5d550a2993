import ProcessTesting
import TestSupport
import Testing

/// The control of every fault test: the check at its end finds faults.
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

    @Test("The check finds no fault in a sound queue")
    func clean() async throws {
        #expect(try await queue.faults(against: ledger) == [])
    }

    @Test("The check finds alerts and answers that were acknowledged and are lost or changed")
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
        "The check finds rows that contradict each other",
        arguments: [
            "UPDATE sources SET pending = pending + 1",
            "UPDATE alerts SET \(ForgedRow.answered) WHERE id = 2",
            "UPDATE alerts SET \(ForgedRow.waiting) WHERE id = 1",
            "UPDATE alerts SET title = 'Another question' WHERE id = 2",
            "UPDATE alerts SET \(ForgedRow.waiting)",
            "UPDATE alerts SET collected_ms = NULL",
            "UPDATE alerts SET button_index = 1 WHERE id = 1",
            "UPDATE alerts SET resolved_seq = 1 WHERE id = 1",
            "DELETE FROM audit WHERE event = 'collected'",
            "DELETE FROM audit WHERE alert_id = 2",
            "DELETE FROM alerts WHERE id = 2",
        ])
    func contradictions(sql: String) async throws {
        try await queue.forge(sql)
        #expect(try await queue.faults(against: ledger) != [])
    }
}
