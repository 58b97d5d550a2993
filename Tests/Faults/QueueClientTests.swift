import ProcessTesting
import TestSupport
import Testing

/// The client is a tool of other tests, which would prove nothing if it misreported.
@Suite("Queue client", .inParallel)
struct QueueClientTests {
    @Test("A client reports the id of its alert, the winner of a lost race, and a wrong request")
    func tells() async throws {
        let queue = try CommandLineQueue()
        let (first, second) = try await (QueueClient(on: queue), QueueClient(on: queue))
        let asked = try await first.ask("ask", ["title": "Well,\n“now”?", "key": "k"])
        let id = try #require(asked.id)
        #expect(asked.text("title") == "Well,\n“now”?")
        #expect(try await first.ask("ask", ["title": "Other?", "key": "k"]).error == "keyConflict")
        try first.send("wait", ["id": id, "tag": 7])
        #expect(try await second.ask("answer", ["id": id, "button": "yes"]).error == nil)
        // A reply with a tag waits until somebody asks for it.
        #expect(try await first.ask("count").number("count") == 0)
        #expect(try await first.reply(to: 7).text("button") == "yes")
        let lost = try await first.ask("answer", ["id": id, "button": "no"])
        #expect(lost.error == "alreadyResolved")
        #expect(lost.number("pid") == Int(second.process.pid))
        #expect(try await first.ask("answer", ["id": "x"]).error == "other")
        #expect(await first.end() == 0)
        #expect(await second.end() == 0)
    }
}
