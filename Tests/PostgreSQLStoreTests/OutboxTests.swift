#if PostgreSQL
    import TestSupport
    import Testing

    @testable import PostgreSQLStore

    @Suite("Outbox of notifications", .inParallel)
    struct OutboxTests {
        private let start = ContinuousClock.now

        @Test("What comes after a quiet time is told at once, also if that was after other news")
        func quiet() {
            var outbox = Outbox()
            for number in 0..<3 {
                let now = start + Outbox.pause * (2 * number)
                let isFirst = outbox.add("queue")
                let steps = [outbox.next(at: now), outbox.next(at: now + Outbox.pause / 2)]
                #expect(isFirst && steps == [.send(["queue"]), .end])
            }
        }

        @Test("What comes within a pause is told together at its end")
        func pause() {
            var outbox = Outbox()
            var isFirst = outbox.add("queue")
            var steps = [outbox.next(at: start)]
            #expect(isFirst && steps == [.send(["queue"])])
            isFirst = ["queue", "queue", "screens"].contains { outbox.add($0) }
            let end = start + Outbox.pause
            steps = [start + .milliseconds(1), end, end].map { outbox.next(at: $0) }
            #expect(!isFirst && steps == [.wait(until: end), .send(["queue", "screens"]), .end])
            isFirst = outbox.add("queue")
            steps = [outbox.next(at: end)]
            #expect(isFirst && steps == [.wait(until: end + Outbox.pause)])
        }
    }
#endif
