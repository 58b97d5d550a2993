import ProcessTesting
import TestSupport
import Testing

/// The tool of other tests: a client that misreports would prove nothing.
@Suite("Queue client", .inParallel)
struct QueueClientTests {
    @Test("A client tells the id that it was given, the winner of a lost race, and a mistake")
    func tells() async throws {
        let queue = try CommandLineQueue()
        let (first, second) = try await (QueueClient(on: queue), QueueClient(on: queue))
        let asked = try await first.ask("ask", ["title": "Well,\n“now”?", "key": "k"])
        let id = try #require(asked.id)
        #expect(asked.text("title") == "Well,\n“now”?")
        #expect(try await first.ask("ask", ["title": "Other?", "key": "k"]).error == "keyConflict")
        try first.send("wait", ["id": id, "tag": 7])
        #expect(try await second.ask("answer", ["id": id, "button": "yes"]).error == nil)
        let heard = try await first.next()
        #expect(heard.number("tag") == 7)
        #expect(heard.text("button") == "yes")
        let lost = try await first.ask("answer", ["id": id, "button": "no"])
        #expect(lost.error == "alreadyResolved")
        #expect(lost.number("pid") == Int(second.process.pid))
        #expect(try await first.ask("answer", ["id": "x"]).error == "other")
        #expect(await first.end() == 0)
        #expect(await second.end() == 0)
    }
}
