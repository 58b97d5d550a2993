import Foundation
import ProcessTesting
import TestSupport
import Testing

/// Calls that become tasks, for clients that declare the extension.
@Suite("Tasks of agents", .inParallel)
struct AgentTaskTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let question = ["title": "Deploy?", "timeout": "1h"]

    private func client() async throws -> AgentClient {
        try await AgentClient(queue, takesTasks: true)
    }

    private func get(_ task: String, _ agent: AgentClient) async throws -> AgentReply {
        try await agent.reply(to: agent.request("tasks/get", ["taskId": task]))
    }

    @Test("A question becomes a task at once, which outlives the server, and ends with the answer")
    func answered() async throws {
        let first = try await client()
        let created = try await first.call("ask", Self.question).result
        #expect(created["resultType"] as? String == "task")
        #expect(created["status"] as? String == "working")
        #expect(created["ttlMs"] as? Int == 3_660_000)
        #expect(created["createdAt"] is String && created["lastUpdatedAt"] is String)
        let task = try #require(created["taskId"] as? String)
        #expect(task.count > 32)
        await first.kill()

        let second = try await client()
        let working = try await get(task, second).result
        #expect(working["status"] as? String == "working" && working["result"] == nil)
        // The same call joins the question, and so the task.
        #expect(try await second.call("ask", Self.question).result["taskId"] as? String == task)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let done = try await get(task, second).result
        #expect(done["status"] as? String == "completed")
        #expect(done["resultType"] as? String == "complete")
        let result = AgentReply(["result": AgentReply.members(done["result"])])
        #expect(result.outcome == "answered" && result.button == "yes")
        #expect(
            try await eventually(each: .milliseconds(20)) {
                try await queue.objects("show", "1").first?["collected_at"] is String
            })
        // It can be read again, and the same call asks anew.
        #expect(try await get(task, second).result["status"] as? String == "completed")
        #expect(try await second.call("ask", Self.question).result["taskId"] as? String != task)
    }

    @Test("Cancelling a task withdraws its question")
    func cancelled() async throws {
        let agent = try await client()
        let task = try #require(
            try await agent.call("ask", Self.question).result["taskId"] as? String)
        let reply = try await agent.reply(to: agent.request("tasks/cancel", ["taskId": task]))
        #expect(reply.result["resultType"] as? String == "complete")
        let state = try await get(task, agent).result
        #expect(state["status"] as? String == "cancelled")
        #expect((state["statusMessage"] as? String)?.contains("withdrawn") == true)
        #expect(try await queue.objects("show", "1").first?["outcome"] as? String == "withdrawn")
    }

    @Test("A task that can't be cancelled stays, and the error says so")
    func uncancellable() async throws {
        let agent = try await client()
        let task = try #require(
            try await agent.call("ask", Self.question).result["taskId"] as? String)
        let holder = try await queue.lockHolder()
        let reply = try await agent.reply(to: agent.request("tasks/cancel", ["taskId": task]))
        #expect(reply.errorCode == -32603, "\(reply)")
        holder.kill(SIGKILL)
        #expect(try await get(task, agent).result["status"] as? String == "working")
    }

    @Test("An expiry completes a task, and is no answer")
    func expired() async throws {
        let agent = try await client()
        let task = try #require(
            try await agent.call("ask", ["title": "Deploy?", "timeout": "200ms"])
                .result["taskId"] as? String)
        var state: [String: any Sendable] = [:]
        _ = try await eventually(each: .milliseconds(50)) {
            state = try await get(task, agent).result
            return state["status"] as? String != "working"
        }
        #expect(state["status"] as? String == "completed")
        let result = AgentReply(["result": AgentReply.members(state["result"])])
        #expect(result.outcome == "expired" && result.button == nil)
    }

    @Test(
        "A task that does not exist, or is another agent's, is unknown",
        arguments: ["tasks/get", "tasks/update", "tasks/cancel"])
    func unknown(method: String) async throws {
        let agent = try await client()
        let task = try #require(
            try await agent.call("ask", Self.question).result["taskId"] as? String)
        let digits = task.dropFirst(2)
        for id in ["", "1", "1-", "x-y", "-", "2-\(digits)", "1-\(digits.reversed())"] {
            let reply = try await agent.reply(to: agent.request(method, ["taskId": id]))
            #expect(reply.errorCode == -32602, "\(id): \(reply)")
        }
        let other = try await AgentClient(queue, name: "other", takesTasks: true)
        let reply = try await other.reply(to: other.request(method, ["taskId": task]))
        #expect(reply.errorCode == -32602)
        #expect(try await queue.run("list", "--count").output == "1\n")
    }
}
