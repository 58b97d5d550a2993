import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Outbox of notifications", .inParallel)
struct OutboxTests {
    private let start = ContinuousClock.now

    @Test("What comes after a quiet time is told at once, and so is the little that follows it")
    func quiet() {
        var outbox = Outbox()
        for round in 0..<3 {
            let quiet = start + Outbox.pause * (2 * Outbox.burst * round)
            for number in 0..<Outbox.burst {
                let now = quiet + .milliseconds(number)
                let isFirst = outbox.add("queue")
                let steps = [outbox.next(at: now), outbox.next(at: now)]
                #expect(isFirst && steps == [.send(["queue"]), .end])
            }
        }
    }

    @Test("Of changes in a loop each pause tells the rest together")
    func loop() {
        var outbox = Outbox()
        var (now, sent) = (start, 0)
        let end = start + Outbox.pause * 20
        // Each look sends or moves the time.
        for _ in 0..<100 where now < end {
            _ = outbox.add("queue")
            _ = outbox.add("screens")
            switch outbox.next(at: now) {
            case .send(let news):
                #expect(news == ["queue", "screens"])
                sent += 1
            case .wait(let time):
                #expect(time > now && time <= now + Outbox.pause)
                now = time
            case .end: Issue.record("It ends with something to tell")
            }
        }
        #expect(sent == 20 + Outbox.burst - 1)
    }
}
