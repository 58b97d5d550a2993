import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// What becomes of questions when agents, clients and servers stop, give up or die.
@Suite("Agents that go away", .inParallel)
struct AgentEndTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let question = ["title": "Deploy?"]

    private func waits(_ count: Int = 1) async throws -> Bool {
        try await eventually(each: .milliseconds(20)) {
            try await queue.run("list", "--count").output == "\(count)\n"
        }
    }

    /// What a client was seen to send when a person cancelled.
    private static let reason = "AbortError: user-cancel"

    private func waitingAgent(
        _ era: AgentClient.Era = .july2026, name: String = "agent"
    ) async throws -> (AgentClient, Int) {
        let agent = try await AgentClient(queue, era, name: name)
        let call = agent.start("ask", Self.question)
        #expect(try await waits())
        try await agent.settle()
        return (agent, call)
    }

    private func outcome(_ id: Int) async throws -> String? {
        try await queue.objects("show", "\(id)").first?["outcome"] as? String
    }

    @Test(
        "A client that may have waited long enough gets no reply, and its question stays",
        arguments: [
            "timed out after 30s", "McpError: MCP error -32001: Request timed out",
            "SdkError: Request timed out", "caller cancelled", "context deadline exceeded",
            "AbortError: This operation was aborted", nil,
        ])
    func unawaited(reason: String?) async throws {
        let (agent, call) = try await waitingAgent()
        agent.cancel(call, reason: reason)
        try await agent.settle()
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let reply = try await agent.call("ask", Self.question)
        #expect(reply.alert == 1 && reply.button == "yes")
        #expect(!agent.messages.contains { $0.id == call })
    }

    @Test(
        "A call that a person cancels gets no reply, and its question is withdrawn",
        arguments: [reason, "AbortError: remote-cancel"], AgentClient.Era.allCases)
    func cancelled(reason: String, era: AgentClient.Era) async throws {
        let (agent, call) = try await waitingAgent(era, name: "claude-code")
        agent.cancel(call, reason: reason)
        #expect(try await eventually { try await outcome(1) == "withdrawn" })
        // The same words are a new question.
        let again = agent.start("ask", Self.question)
        #expect(try await waits())
        #expect(await agent.finish().code == 0)
        #expect(!agent.messages.contains { $0.id == call })
        #expect(agent.messages.first { $0.id == again }?.alert == 2)
    }

    @Test("A client that cancels its call and leaves at once has its question withdrawn")
    func cancelledAtOnce() async throws {
        let (agent, call) = try await waitingAgent(name: "claude-code")
        agent.cancel(call, reason: Self.reason)
        #expect(await agent.finish().code == 0)
        #expect(try await outcome(1) == "withdrawn")
    }

    @Test("A question that another call waits for stays when one is cancelled")
    func cancelledOfTwo() async throws {
        let (agent, first) = try await waitingAgent(name: "claude-code")
        let second = agent.start("collect", ["id": 1], progressToken: "second")
        // From its first progress on, the second call waits.
        #expect(await eventually { agent.messages.contains { $0.method != nil } })
        agent.cancel(first, reason: Self.reason)
        try await agent.settle()
        #expect(try await queue.run("answer", "1", "no").code == 0)
        #expect(try await agent.reply(to: second).button == "no")
    }

    @Test(
        "At the end of stdin, and upon SIGTERM, waits end, questions stay, and the exit code is 0",
        arguments: AgentClient.Era.allCases, [true, false])
    func ended(era: AgentClient.Era, byInput: Bool) async throws {
        let (agent, call) = try await waitingAgent(era)
        if byInput { agent.close() } else { agent.server.kill(SIGTERM) }
        let finished = await agent.server.finish()
        #expect(finished.code == 0 && finished.errors.isEmpty, "\(finished)")
        #expect(agent.messages.first { $0.id == call }?.state == "waiting")
        #expect(try await waits())
        #expect(try await queue.isSound())
    }

    @Test("Messages before the end of stdin are all replied to")
    func piped() async throws {
        let agent = try await AgentClient(queue, .november2025)
        let notify = agent.start("notify", ["title": "Done"])
        let list = agent.request("tools/list")
        let mine = agent.start("list_mine", [:])
        _ = await agent.finish()
        #expect(agent.messages.first { $0.id == notify }?.alert == 1)
        #expect(agent.messages.first { $0.id == list }?.result["tools"] != nil)
        let summary = agent.messages.first { $0.id == mine }?.summary
        #expect(summary?.hasPrefix("Waiting: ") == true, "\(summary ?? "")")
    }

    @Test(
        "An answer that can't be written to the client is not collected, and the next one gets it")
    func unwritten() async throws {
        let (agent, _) = try await waitingAgent()
        #expect(await agent.stopReading())
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await eventually { agent.server.errors.text.contains("could not be written") })
        #expect(await agent.finish().code == 0)
        let next = try await AgentClient(queue)
        let list = try await next.call("list_mine").content["alerts"]
        #expect((list as? [[String: any Sendable]])?.count == 1)
        #expect(try await next.call("ask", Self.question).button == "yes")
    }

    @Test("An answer that was written is collected, even if the client leaves before it can be")
    func leavesAtOnce() async throws {
        let (first, _) = try await waitingAgent()
        await first.kill()
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let agent = try await AgentClient(queue)
        _ = try await agent.call("list_mine")
        // Reading needs no lock, collecting does.
        let holder = try await queue.lockHolder()
        #expect(try await agent.call("collect", ["id": 1]).button == "yes")
        agent.close()
        try await Task.sleep(for: .milliseconds(500))
        holder.kill(SIGKILL)
        let finished = await agent.server.finish()
        #expect(finished.code == 0 && finished.errors.isEmpty, "\(finished)")
        #expect(try await queue.objects("show", "1").first?["collected_at"] is String)
    }

    @Test("An answer that a client has read is not the answer to its next question")
    func nextQuestion() async throws {
        for round in 1...10 {
            let first = try await AgentClient(queue)
            let call = first.start("ask", Self.question)
            #expect(try await waits())
            #expect(try await queue.run("answer", "\(2 * round - 1)", "yes").code == 0)
            #expect(try await first.reply(to: call).button == "yes")
            // The first server may still be marking the answer as collected.
            let second = try await AgentClient(queue, options: ["--wait", "1ms"])
            let next = try await second.call("ask", Self.question)
            #expect(next.alert == 2 * round && next.state == "waiting")
            #expect(try await queue.run("withdraw", "\(2 * round)").code == 0)
        }
    }

    @Test(
        "A server that is killed while a call waits loses nothing",
        arguments: AgentClient.Era.allCases)
    func killed(era: AgentClient.Era) async throws {
        let (first, _) = try await waitingAgent(era)
        await first.kill()
        let second = try await AgentClient(queue, era)
        let call = second.start("ask", Self.question)
        try await second.settle()
        await second.kill()
        #expect(!second.messages.contains { $0.id == call })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let third = try await AgentClient(queue, era)
        #expect(try await third.call("collect", ["id": 1]).button == "yes")
        #expect(try await queue.run("list", "--count").output == "0\n")
    }

    @Test(
        "What an earlier process has asked is listed and collected by the next one",
        arguments: AgentClient.Era.allCases)
    func earlier(era: AgentClient.Era) async throws {
        let (first, call) = try await waitingAgent(era)
        first.cancel(call, reason: "timed out after 60s")
        let keyed = first.start("ask", ["title": "Reboot?", "key": "reboot"])
        #expect(try await waits(2))
        await first.kill()
        #expect(!first.messages.contains { $0.id == keyed })
        let second = try await AgentClient(queue, era, options: ["--wait", "1ms"])
        func listed() async throws -> [String] {
            let reply = try await second.call("list_mine")
            let alerts = try #require(reply.content["alerts"] as? [[String: any Sendable]])
            return alerts.map { "\($0["id"] ?? 0) \($0["outcome"] as? String ?? "waits")" }
        }
        #expect(try await listed() == ["1 waits", "2 waits"])
        #expect(try await second.call("collect", ["key": "reboot"]).state == "waiting")
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await listed() == ["2 waits", "1 answered"])
        #expect(try await second.call("collect", ["id": "1"]).button == "yes")
        #expect(try await queue.run("answer", "2", "no").code == 0)
        #expect(try await second.call("collect", ["key": "reboot"]).button == "no")
        #expect(try await eventually { try await listed().isEmpty })
    }

    @Test("A server that is killed at any moment asks once, and gives one answer")
    func killedAtAnyMoment() async throws {
        var random = TestRandom()
        for round in 1...15 {
            let question = ["title": "Round \(round)?"]
            for _ in 1...3 {
                let agent = try await AgentClient(queue)
                _ = agent.start("ask", question)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
                await agent.kill()
            }
            let agent = try await AgentClient(queue)
            let call = agent.start("ask", question)
            #expect(try await waits())
            let id = try #require(try await queue.objects("list").first?["id"] as? Int)
            #expect(try await queue.run("answer", "\(id)", "yes").code == 0)
            #expect(try await agent.reply(to: call).alert == id)
            #expect(await agent.finish().code == 0)
        }
        #expect(try await queue.objects("history", "--limit", "100").count == 15)
        #expect(try await queue.isSound())
    }

    @Test("A client that is killed leaves its question to the next one")
    func clientKilled() async throws {
        let (agent, _) = try await waitingAgent()
        // What a kill closes.
        #expect(await agent.stopReading())
        #expect(await agent.finish().code == 0)
        #expect(try await waits())
        let next = try await AgentClient(queue, options: ["--wait", "100ms"])
        #expect(try await next.call("ask", Self.question).alert == 1)
    }
}
