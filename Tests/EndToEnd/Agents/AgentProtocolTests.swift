import Foundation
import ProcessTesting
import TestSupport
import Testing

/// What `alertq mcp` makes of messages, good and bad.
@Suite("The protocol for agents", .inParallel)
struct AgentProtocolTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let meta = """
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
        "io.modelcontextprotocol/clientCapabilities":{}}
        """

    @Test(
        "A bad message gets the error that says so, and the next one is served",
        arguments: [
            ("{", -32700), ("{} {}", -32700), ("\"\\ud800\"", -32700), ("7", -32600),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600), ("[]", -32600),
            ("{}", -32600), ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32602),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", -32602),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", -32602),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\",\"params\":{\(meta)}}", -32601),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{"
                    + "\(meta)}}", -32601
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\(meta)}}",
                -32602
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                    + "\"answer\",\(meta)}}", -32602
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                    + "\"ask\",\"arguments\":[],\(meta)}}", -32602
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{"
                    + "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"1900-01-01\"}}}",
                -32022
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{"
                    + "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
                -32602
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"taskId\":"
                    + "\"1\",\(meta)}}", -32021
            ),
        ])
    func badMessage(line: String, code: Int) async throws {
        let agent = try await AgentClient(queue)
        agent.send(line: line)
        agent.send(line: "")
        agent.send(line: "{\"jsonrpc\":\"2.0\",\"id\":\"next\",\"method\":\"ping\"}")
        #expect(await eventually { agent.messages.count == 2 })
        let error = try #require(agent.messages.first)
        #expect(error.errorCode == code, "\(error)")
        let message = try #require(error.error["message"] as? String)
        #expect(message.count > 10)
        #expect(agent.messages.last?.object["id"] as? String == "next")
        #expect(agent.messages.last?.result.isEmpty == true)
    }

    @Test("Notifications and replies of any kind get no reply")
    func ignored() async throws {
        let agent = try await AgentClient(queue)
        for line in [
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\",\"params\":[1]}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                + "{\"requestId\":9}}",
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}",
        ] {
            agent.send(line: line)
        }
        try await agent.settle()
        #expect(agent.messages.count == 1)
    }

    @Test("A line that is too long is refused without being kept in memory")
    func longLine() async throws {
        let agent = try await AgentClient(queue)
        try await agent.settle()
        let before = try Self.memory(of: agent.server.pid)
        let part = String(repeating: "x", count: 1 << 20)
        for _ in 1...32 { agent.send(line: part + part.dropLast(1)) }
        try await agent.settle()
        #expect(agent.messages.count { $0.errorCode == -32600 } == 32)
        #expect(try Self.memory(of: agent.server.pid) < before + 16 << 10)
    }

    /// The memory that a process has used at most, in KiB; see proc(5).
    private static func memory(of pid: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let peak = try #require(status.firstMatch(of: /VmHWM:\s+([0-9]+)/)?.1)
        return try #require(Int(peak))
    }

    @Test("A request with the id of one in progress is refused, and that one goes on")
    func sameID() async throws {
        let agent = try await AgentClient(queue)
        let call = agent.start("ask", ["title": "Deploy?"])
        try await agent.settle()
        agent.send([
            "jsonrpc": "2.0", "id": call, "method": "tools/call",
            "params": [
                "name": "list_mine",
                "_meta": [
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": [String: String](),
                ],
            ] as [String: Any],
        ])
        #expect(try await agent.reply(to: call).errorCode == -32600)
        #expect(try await eventually { try await queue.run("answer", "1", "yes").code == 0 })
        #expect(await eventually { agent.messages.contains { $0.button == "yes" } })
    }

    @Test(
        "An argument of another tool that is wrong gets a result that says which",
        arguments: [
            ("list_mine", "{\"limit\":0}", "from 1 to 100"),
            ("list_mine", "{\"limit\":101}", "from 1 to 100"),
            ("list_mine", "{\"limit\":\"x\"}", "from 1 to 100"),
            ("collect", "{}", "“id” or the “key”"),
            ("collect", "{\"id\":\"x\"}", "not an integer"),
            ("withdraw", "{\"id\":1,\"key\":\"k\"}", "give one of them"),
            ("notify", "{\"title\":\"x\",\"buttons\":[]}", "no argument “buttons”"),
        ])
    func badArgument(tool: String, arguments: String, words: String) async throws {
        let agent = try await AgentClient(queue, .june2025)
        let object = try JSONSerialization.jsonObject(with: Data(arguments.utf8))
        let reply = try await agent.call(tool, try #require(object as? [String: Any]))
        #expect(reply.isError && reply.reason == "invalid", "\(reply)")
        #expect(reply.summary.contains(words), "\(reply.summary)")
    }

    @Test("A client has at most 256 calls in progress, and hears which one was refused")
    func manyCalls() async throws {
        let agent = try await AgentClient(queue)
        for number in 1...256 {
            _ = agent.start("ask", ["title": "\(number)", "key": "\(number)"])
        }
        try await agent.settle()
        let reply = try await agent.reply(to: agent.start("ask", ["title": "One more"]))
        #expect(reply.errorCode != nil, "\(reply)")
        #expect(await agent.finish().code == 0)
        #expect(agent.messages.count { $0.state == "waiting" } == 256)
    }

    @Test(
        "An argument that is wrong gets a result that says which, and stores nothing",
        arguments: [
            ("{}", "title"), ("{\"titel\":\"x\"}", "did you mean “title”"),
            ("{\"title\":7}", "“title” is not a string"), ("{\"title\":\"\"}", "title is empty"),
            ("{\"title\":\"x\",\"buttons\":[]}", "use notify"),
            ("{\"title\":\"x\",\"buttons\":[\"Yes\"]}", "buttons[0]"),
            ("{\"title\":\"x\",\"buttons\":[{\"id\":\"a\"}]}", "buttons[0].title"),
            (
                "{\"title\":\"x\",\"buttons\":[{\"title\":\"A\"},{\"title\":\"B\"}]}",
                "none of the 2 buttons means no"
            ),
            ("{\"title\":\"x\",\"buttons\":[{\"title\":\"A\",\"role\":\"bad\"}]}", "role"),
            (
                "{\"title\":\"x\",\"buttons\":[{\"title\":\"A\",\"id\":\"a\\nname\\tforged\"}]}",
                "id of a button contains U+000A"
            ),
            ("{\"title\":\"x\",\"timeout\":\"soon\"}", "“soon” is not a time"),
            ("{\"title\":\"x\",\"default\":\"yes\"}", "needs a “timeout”"),
            ("{\"title\":\"x\",\"timeout\":\"1h\",\"default\":\"maybe\"}", "maybe"),
            ("{\"title\":\"x\",\"priority\":\"highest\"}", "priority"),
            ("{\"title\":\"x\",\"info\":{\"a\":[1]}}", "“a” in “info”"),
            ("{\"title\":\"x\\ny\"}", "“title” has a line break"),
            ("{\"title\":\"x\",\"options\":[\"Yes\"]}", "did you mean “buttons”"),
            ("{\"title\":\"x\",\"timeout_ms\":5}", "did you mean “timeout”"),
        ])
    func badArgument(arguments: String, words: String) async throws {
        let agent = try await AgentClient(queue, .november2025)
        let object = try JSONSerialization.jsonObject(with: Data(arguments.utf8))
        let reply = try await agent.call("ask", try #require(object as? [String: Any]))
        #expect(reply.isError && reply.reason == "invalid", "\(reply)")
        #expect(reply.summary.contains(words), "\(reply.summary)")
        #expect(try await agent.call("list_mine").summary.hasPrefix("Waiting: 0."))
    }

    @Test("An argument that the tool doesn't have is named in every result, and counts for nothing")
    func ignoredArguments() async throws {
        let agent = try await AgentClient(queue, options: ["--wait", "1ms"])
        func call(
            _ tool: String, _ arguments: [String: any Sendable]
        ) async throws -> AgentReply {
            let reply = try await agent.call(tool, arguments.merging(["callId": 7]) { $1 })
            #expect(reply.content["ignored"] as? [String] == ["callId"], "\(tool): \(reply)")
            #expect(reply.summary.hasSuffix("“callId”."), "\(reply.summary)")
            return reply
        }
        #expect(try await call("ask", ["title": "Go?"]).alert == 1)
        #expect(try await agent.call("ask", ["title": "Go?", "callId": 8]).alert == 1)
        #expect(try await call("collect", ["id": 2]).reason == "not_found")
        #expect(try await call("notify", ["title": "Done"]).alert == 2)
        _ = try await call("list_mine", [:])
        #expect(try await call("withdraw", ["id": 1]).outcome == "withdrawn")
        #expect(try await agent.call("list_mine").content["ignored"] == nil)
    }

    @Test(
        "A revision has nothing that a later one brought", arguments: AgentClient.Era.allCases)
    func revisions(era: AgentClient.Era) async throws {
        let agent = try await AgentClient(queue, era, options: ["--wait", "1ms"])
        let list = try await agent.reply(to: agent.request("tools/list"))
        let tools = try #require(list.result["tools"] as? [[String: any Sendable]])
        var expected: Set = ["name", "description", "inputSchema"]
        if era.rawValue >= "2025-03-26" { expected.insert("annotations") }
        if era.rawValue >= "2025-06-18" { expected.formUnion(["title", "outputSchema"]) }
        for tool in tools { #expect(Set(tool.keys) == expected) }
        for (tool, arguments) in [("ask", ["title": "Go?"]), ("collect", ["id": "9"])] {
            let reply = try await agent.reply(
                to: agent.start(tool, arguments, progressToken: "p"))
            var expected: Set = ["content", "isError"]
            if era.hasStructuredResults { expected.insert("structuredContent") }
            if era == .july2026 { expected.formUnion(["resultType", "_meta"]) }
            #expect(Set(reply.result.keys) == expected)
            #expect(reply.texts.count == 2 && !reply.summary.isEmpty && reply.state != nil)
        }
        let progress = try #require(agent.messages.first { $0.method != nil })
        var members: Set = ["progressToken", "progress", "total"]
        if era.rawValue >= "2025-03-26" { members.insert("message") }
        #expect(Set(AgentReply.members(progress.object["params"]).keys) == members)
    }

    /// The messages of a batch as a line.
    private static func batch(_ messages: String...) -> String {
        "[" + messages.map { "{\"jsonrpc\":\"2.0\",\($0)}" }.joined(separator: ",") + "]"
    }

    /// The batches among a server's lines.
    private func batches(_ agent: AgentClient) -> [[AgentReply]] {
        agent.server.output.text.split(separator: "\n").compactMap { line in
            let value = try? JSONSerialization.jsonObject(with: Data(line.utf8))
            return (value as? [[String: any Sendable]])?.map(AgentReply.init)
        }
    }

    @Test("A batch gets one array of replies, once the last call in it has ended")
    func batch() async throws {
        let agent = try await AgentClient(queue, .march2025, options: ["--wait", "1h"])
        agent.send(
            line: Self.batch(
                "\"id\":10,\"method\":\"ping\"", "\"method\":\"notifications/initialized\"",
                "\"id\":11,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\","
                    + "\"arguments\":{\"title\":\"Go?\"}}",
                "\"id\":12,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"x\"}",
                "\"id\":13,\"method\":\"tools/call\",\"params\":{\"name\":\"list_mine\"}",
                "\"id\":14,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\","
                    + "\"arguments\":{\"title\":\"Cancelled?\"}}", "\"id\":15"))
        #expect(
            try await eventually { try await queue.run("list", "--count").output == "2\n" })
        agent.cancel(14, reason: nil)
        try await agent.settle()
        #expect(batches(agent).isEmpty)
        let asked = try await queue.objects("list").first { $0["title"] as? String == "Go?" }
        let id = try #require(asked?["id"] as? Int)
        #expect(try await queue.run("answer", "\(id)", "yes").code == 0)
        #expect(await eventually { batches(agent).count == 1 })
        let replies = try #require(batches(agent).first)
        #expect(replies.compactMap(\.id).sorted() == [10, 11, 12, 13, 15])
        #expect(replies.first { $0.id == 11 }?.button == "yes")
        for id in [12, 15] { #expect(replies.first { $0.id == id }?.errorCode == -32600) }
        let collected = { try await self.queue.objects("show", "\(id)").first?["collected_at"] }
        #expect(try await eventually { try await collected() is String })
    }

    @Test("A batch that asks for nothing gets no reply, and one that is no batch an error")
    func emptyBatches() async throws {
        let agent = try await AgentClient(queue, .march2025)
        agent.send(line: Self.batch("\"method\":\"notifications/x\"", "\"id\":1,\"result\":{}"))
        let ping = "\"id\":7,\"method\":\"ping\""
        for line in ["[]", "[" + Array(repeating: "1", count: 257).joined(separator: ",") + "]"] {
            agent.send(line: line)
        }
        agent.send(line: "[1,{\"jsonrpc\":\"2.0\",\(ping)}]")
        #expect(await eventually { !batches(agent).isEmpty })
        #expect(agent.messages.compactMap(\.errorCode) == [-32600, -32600])
        #expect(batches(agent).map { $0.map(\.errorCode) } == [[-32600, nil]])
        #expect(await agent.finish().code == 0)
    }

    @Test("A batch whose server ends is replied to as a whole")
    func endOfBatch() async throws {
        let agent = try await AgentClient(queue, .march2025, options: ["--wait", "1h"])
        let call = "\"method\":\"tools/call\",\"params\":{\"name\":\"ask\",\"arguments\":"
        agent.send(
            line: Self.batch(
                "\"id\":7,\(call){\"title\":\"A?\"}}", "\"id\":8,\(call){\"title\":\"B?\"}}"))
        #expect(await agent.finish().code == 0)
        #expect(batches(agent).first?.map(\.state) == ["waiting", "waiting"])
    }

    @Test("A request with half of a surrogate pair gets an error with its id")
    func halfPair() async throws {
        let agent = try await AgentClient(queue, .november2025)
        agent.send(
            line: "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":{"
                + "\"name\":\"ask\",\"arguments\":{\"title\":\"\\ud83d\"}}}")
        let reply = try await agent.reply(to: 77)
        #expect(reply.errorCode == -32700, "\(reply)")
        #expect(try await agent.call("list_mine").summary.hasPrefix("Waiting: 0."))
    }

    @Test("A client that only its library has named is known by its program, or its script")
    func program() async throws {
        let source = { (id: Int) in
            try await self.queue.objects("show", "\(id)").first?["source"] as? String
        }
        for name in ["mcp", ""] {
            _ = try await AgentClient(queue, name: name).call("notify", ["title": "Hello"])
        }
        let own = try #require(try await source(1))
        #expect(own.hasPrefix("mcp:") && own != "mcp:mcp" && own != "mcp:")
        #expect(try await source(2) == own)
        let script = queue.directory + "/agent.sh"
        try "\"$@\"\n:\n".write(toFile: script, atomically: true, encoding: .utf8)
        for wrapper in [["sh", script], ["sh", script, "timeout", "600"]] {
            let agent = try await AgentClient(queue, name: "mcp", under: wrapper)
            let id = try #require(try await agent.call("notify", ["title": "Hello"]).alert)
            #expect(try await source(id) == "mcp:agent.sh")
            _ = await agent.finish()
        }
    }

    @Test("A queue that can't be reached is no answer, and is found once it can")
    func unreachable() async throws {
        let agent = try await AgentClient(queue)
        try "no database".write(toFile: queue.path, atomically: true, encoding: .utf8)
        let reply = try await agent.call("ask", ["title": "Deploy?"])
        #expect(reply.isError && reply.reason == "unreachable", "\(reply)")
        #expect(reply.summary.hasPrefix("The queue can't be reached"), "\(reply.summary)")
        try FileManager.default.removeItem(atPath: queue.path)
        let call = agent.start("ask", ["title": "Deploy?"])
        #expect(
            try await eventually(each: .milliseconds(50)) {
                try await queue.run("answer", "1", "yes").code == 0
            })
        #expect(try await agent.reply(to: call).button == "yes")
    }

    @Test("A server needs next to nothing in its environment")
    func environment() async throws {
        let home = queue.directory
        let program = CommandLineQueue.program
        let lines = """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"notify",\
            "arguments":{"title":"Hello"},\(Self.meta)}}

            """
        let asked = try await Child.run(
            "env", "-i", "HOME=\(home)", "PATH=/usr/bin:/bin", "TERM=dumb", program, "mcp",
            "--database", home + "/own.db", input: Array(lines.utf8))
        #expect(asked.code == 0 && asked.errors.isEmpty, "\(asked)")
        #expect(asked.output.contains("\"source\":\"mcp:"), "\(asked.output)")
    }
}
