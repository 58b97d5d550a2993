import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Agents that ask, wait and collect through `alertq mcp`.
@Suite("Agents that ask", .inParallel)
struct AgentAskTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let question: [String: any Sendable] = [
        "title": "Deploy to production?", "message": "Version 2.1, 14 commits.",
        "buttons": [
            ["id": "deploy", "title": "Deploy", "role": "destructive"],
            ["id": "keep", "title": "Keep", "role": "cancel"],
        ],
    ]

    private func waits(_ count: Int = 1) async throws -> Bool {
        try await eventually(each: .milliseconds(20)) {
            try await queue.run("list", "--count").output == "\(count)\n"
        }
    }

    private func collectedAt(_ id: Int) async throws -> String? {
        try await queue.objects("show", "\(id)").first?["collected_at"] as? String
    }

    @Test(
        "A call returns a person's choice, which then counts as collected",
        arguments: AgentClient.Era.allCases)
    func answered(era: AgentClient.Era) async throws {
        let agent = try await AgentClient(queue, era, name: "claude-code")
        let call = agent.start("ask", Self.question)
        #expect(try await waits())
        #expect(try await queue.runInTerminal("answer", "1", "deploy").code == 0)
        let reply = try await agent.reply(to: call)
        #expect(reply.state == "resolved" && reply.outcome == "answered")
        #expect(reply.button == "deploy" && reply.content["by"] as? String == "person")
        #expect(reply.content["source"] as? String == "mcp:claude-code")
        #expect(reply.summary.hasPrefix("A person chose “Deploy” (deploy)."), "\(reply.summary)")
        #expect(reply.texts.first == reply.summary && !reply.isError)
        #expect((reply.result["resultType"] as? String == "complete") == (era == .july2026))
        #expect(await eventuallyCollected(1))
        let again = agent.start("ask", Self.question)
        #expect(try await waits())
        #expect(try await queue.run("withdraw", "2").code == 0)
        #expect(try await agent.reply(to: again).alert == 2)
        let finished = await agent.finish()
        #expect(finished.code == 0 && finished.errors.isEmpty, "\(finished.errors)")
        #expect(try await queue.isSound())
    }

    private func eventuallyCollected(_ id: Int) async -> Bool {
        (try? await eventually(each: .milliseconds(20)) { try await collectedAt(id) != nil })
            ?? false
    }

    @Test("A question takes the place of the one that waits, but not of one that was answered")
    func replaced() async throws {
        let agent = try await AgentClient(queue)
        let first = agent.start("ask", ["title": "12 files?", "key": "k"])
        #expect(try await waits())
        let second = agent.start("ask", ["title": "14 files?", "key": "k", "replace": "true"])
        let told = try await agent.reply(to: first)
        #expect(told.outcome == "withdrawn" && told.content["superseded_by"] as? Int == 2)
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        #expect(try await agent.reply(to: second).button == "yes")
        _ = try await queue.run(
            "ask", "1 file?", "-b", "yes=Yes", "--cancel", "no=No", "--key", "l", "--source",
            "mcp:agent", "--detach")
        #expect(try await queue.run("answer", "3", "yes").code == 0)
        let late = try await agent.call(
            "ask", ["title": "2 files?", "key": "l", "replace": true])
        #expect(late.isError && late.reason == "conflict" && late.summary.contains("alert 3"))
        #expect(try await agent.call("collect", ["id": 3]).button == "yes")
        let withoutKey = try await agent.call("ask", ["title": "Go?", "replace": true])
        #expect(withoutKey.isError && withoutKey.reason == "invalid")
        _ = await agent.finish()
    }

    @Test("A stale answer is a failure that allows nothing, and the same question is asked again")
    func stale() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "100ms"])
        let question = ["title": "Deploy?", "valid": "300ms"]
        #expect(try await agent.call("ask", question).state == "waiting")
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(
            try await eventually {
                try await queue.objects("show", "1").first?["stale"] as? Bool == true
            })
        let late = try await agent.call("collect", ["id": 1])
        #expect(late.isError && late.state == "failed" && late.reason == "stale", "\(late)")
        #expect(late.summary.hasPrefix("That allows nothing: the answer to alert 1 is stale"))
        #expect(await eventuallyCollected(1))
        let again = try await agent.call("ask", question)
        #expect(again.state == "waiting" && again.alert == 2)
        // Also without having been told.
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        #expect(
            try await eventually {
                try await queue.objects("show", "2").first?["stale"] as? Bool == true
            })
        #expect(try await agent.call("ask", question).alert == 3)
        let log = try await queue.run("audit", "list", "--alert", "2").output
        #expect(log.contains("it was stale"), "\(log)")
        _ = await agent.finish()
    }

    @Test("A call that has waited for long enough returns that, and collect goes on")
    func held() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "300ms"])
        let first = try await agent.call("ask", Self.question)
        #expect(first.state == "waiting" && first.alert == 1 && !first.isError)
        let key = try #require(first.content["key"] as? String)
        #expect(first.summary.hasPrefix("Nobody has answered yet: alert 1 waits."))
        // A wait of any length, in small steps.
        for _ in 1...3 {
            #expect(try await agent.call("collect", ["key": key]).state == "waiting")
        }
        #expect(try await agent.call("ask", Self.question).alert == 1)
        #expect(try await queue.run("answer", "1", "keep").code == 0)
        let reply = try await agent.call("collect", ["id": 1])
        #expect(reply.state == "resolved" && reply.button == "keep")
        #expect(await eventuallyCollected(1))
        let again = try await agent.call("collect", ["key": key])
        #expect(again.button == "keep" && again.summary.contains("collected before"))
        #expect(try await queue.objects("history").count == 1)
    }

    @Test("A call with a key is always answered, and another question with it is refused")
    func key() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "200ms"])
        let question = Self.question.merging(["key": "deploy-2.1"]) { $1 }
        #expect(try await agent.call("ask", question).content["key"] as? String == "deploy-2.1")
        #expect(try await queue.run("answer", "1", "deploy").code == 0)
        for _ in 1...2 { #expect(try await agent.call("ask", question).button == "deploy") }
        let other = try await agent.call("ask", ["title": "Another?", "key": "deploy-2.1"])
        #expect(other.isError && other.reason == "conflict")
        #expect(other.summary.contains("a new question needs a new key"), "\(other.summary)")
    }

    @Test("Each end has its own words, and none without a person's choice reads like a yes")
    func ends() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "30s"])
        var summaries: [String: String] = [:]
        func end(
            _ name: String, _ extra: [String: any Sendable] = [:], _ verb: [String] = [],
            isPerson: Bool = false
        ) async throws -> AgentReply {
            let question = Self.question.merging(["title": name]) { $1 }
            let call = agent.start("ask", question.merging(extra) { $1 })
            if !verb.isEmpty {
                #expect(try await waits())
                let id = try #require(try await queue.objects("list").first?["id"] as? Int)
                let words = [verb[0], "\(id)"] + verb.dropFirst()
                let terminal = isPerson ? try PseudoTerminal(columns: 400) : nil
                #expect(try await queue.start(words, on: terminal).finish().code == 0)
            }
            let reply = try await agent.reply(to: call)
            summaries[name] = reply.summary
            return reply
        }
        #expect(try await end("yes", [:], ["answer", "deploy"], isPerson: true).button == "deploy")
        #expect(try await end("no", [:], ["answer", "keep"], isPerson: true).button == "keep")
        #expect(try await end("program", [:], ["answer", "deploy"]).button == "deploy")
        #expect(try await end("withdrawn", [:], ["withdraw"]).outcome == "withdrawn")
        #expect(try await end("cancelled", [:], ["cancel"]).outcome == "cancelled")
        let expired = try await end("expired", ["timeout": "1s"])
        #expect(expired.outcome == "expired" && expired.button == nil && !expired.isError)
        let byDefault = try await end("default", ["timeout": "1s", "default": "deploy"])
        #expect(byDefault.outcome == "expired" && byDefault.button == "deploy")
        #expect(Set(summaries.values).count == summaries.count)
        for (name, summary) in summaries {
            #expect(summary.contains("A person chose") == (name == "yes"), "\(name): \(summary)")
            #expect(summary.contains("Denied by a person") == (name == "no"), "\(summary)")
            let isExpiry = ["expired", "default"].contains(name)
            #expect(summary.contains("Nobody answered in time") == isExpiry, "\(summary)")
        }
        #expect(summaries["default"]?.contains("applied by policy, not by a person") == true)
    }

    @Test("Two agents at once: of one name they join, of two names they can't reach each other")
    func two() async throws {
        let agents = [
            try await AgentClient(queue, name: "one"),
            try await AgentClient(queue, .november2025, name: "one"),
            try await AgentClient(queue, name: "two"),
        ]
        let calls = agents.map { $0.start("ask", Self.question) }
        #expect(try await waits(2))
        for agent in agents.prefix(2) { try await agent.settle() }
        let sources = try await queue.objects("list").map { $0["source"] as? String }
        #expect(Set(sources) == ["mcp:one", "mcp:two"])
        let own = try #require(
            try await queue.objects("list", "--source", "mcp:one").first?["id"] as? Int)
        for (tool, arguments) in [("collect", ["id": own]), ("withdraw", ["id": own])] {
            let reply = try await agents[2].call(tool, arguments)
            #expect(reply.isError && reply.reason == "not_found", "\(tool): \(reply)")
        }
        let mine = try await agents[2].call("list_mine").content["alerts"]
        #expect((mine as? [[String: any Sendable]])?.count == 1)
        #expect(try await queue.run("answer", "\(own)", "deploy").code == 0)
        for (agent, call) in zip(agents, calls).prefix(2) {
            #expect(try await agent.reply(to: call).button == "deploy")
        }
        #expect(try await queue.run("list", "--count").output == "1\n")
    }

    @Test("A hundred calls wait at once, and each gets its own answer")
    func many() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "1h"])
        let calls = (1...100).map { agent.start("ask", ["title": "Question \($0)?"]) }
        #expect(try await waits(100))
        for alert in try await queue.objects("list", "--limit", "1000") {
            let id = try #require(alert["id"] as? Int)
            #expect(try await queue.run("answer", "\(id)", id % 2 == 0 ? "yes" : "no").code == 0)
        }
        for (index, call) in calls.enumerated() {
            let reply = try await agent.reply(to: call)
            let id = try #require(reply.alert)
            #expect(reply.content["title"] as? String == "Question \(index + 1)?")
            #expect(reply.button == (id % 2 == 0 ? "yes" : "no"))
        }
    }

    @Test("Progress is told only to those who ask for it")
    func progress() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "300ms"])
        _ = try await agent.reply(to: agent.start("ask", Self.question))
        #expect(!agent.messages.contains { $0.method != nil })
        _ = try await agent.reply(to: agent.start("ask", Self.question, progressToken: "p"))
        let progress = try #require(agent.messages.first { $0.method != nil })
        #expect(progress.method == "notifications/progress")
        #expect(AgentReply.members(progress.object["params"])["progressToken"] as? String == "p")
    }

    @Test("Notices that have ended don't hide answers from the list")
    func manyNotices() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "1ms"])
        _ = try await agent.call("ask", ["title": "Go?"])
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        for number in 1...5 {
            _ = try await agent.call("notify", ["title": "\(number)", "timeout": "1ms"])
        }
        #expect(
            try await eventually {
                try await queue.objects("history").count { $0["outcome"] as? String == "expired" }
                    == 5
            })
        let list = try await agent.call("list_mine", ["limit": 2])
        let alerts = try #require(list.content["alerts"] as? [[String: any Sendable]])
        #expect(alerts.compactMap { $0["id"] as? Int } == [1])
    }

    @Test("An agent notifies, lists what is its own, and withdraws it")
    func others() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "100ms", "--source", "ci"])
        let notice = try await agent.call("notify", ["title": "Build finished"])
        #expect(notice.state == "queued" && notice.content["source"] as? String == "ci")
        _ = try await agent.call("ask", Self.question)
        _ = try await agent.call("ask", ["title": "Other?"])
        #expect(try await queue.run("answer", "3", "no").code == 0)
        let list = try await agent.call("list_mine")
        let alerts = try #require(list.content["alerts"] as? [[String: any Sendable]])
        #expect(alerts.compactMap { $0["id"] as? Int } == [1, 2, 3])
        #expect(try await collectedAt(3) == nil)
        #expect(try await agent.call("withdraw", ["id": 2]).outcome == "withdrawn")
        let late = try await agent.call("withdraw", ["id": 3])
        #expect(late.outcome == "answered" && late.button == "no")
        #expect(await eventuallyCollected(3))
        #expect(try await agent.call("collect", ["key": "none"]).reason == "not_found")
    }
}
