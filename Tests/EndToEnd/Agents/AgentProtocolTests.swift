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
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
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
            ("collect", "{\"id\":\"1\"}", "not an integer"),
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
            ("{\"title\":\"x\",\"timeout\":\"soon\"}", "“soon” is not a time"),
            ("{\"title\":\"x\",\"default\":\"yes\"}", "needs a “timeout”"),
            ("{\"title\":\"x\",\"timeout\":\"1h\",\"default\":\"maybe\"}", "maybe"),
            ("{\"title\":\"x\",\"priority\":\"highest\"}", "priority"),
            ("{\"title\":\"x\",\"info\":{\"a\":1}}", "“a” in “info”"),
        ])
    func badArgument(arguments: String, words: String) async throws {
        let agent = try await AgentClient(queue, .november2025)
        let object = try JSONSerialization.jsonObject(with: Data(arguments.utf8))
        let reply = try await agent.call("ask", try #require(object as? [String: Any]))
        #expect(reply.isError && reply.reason == "invalid", "\(reply)")
        #expect(reply.summary.contains(words), "\(reply.summary)")
        #expect(try await agent.call("list_mine").summary.hasPrefix("Waiting: 0."))
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
        #expect(asked.output.contains("\"source\":\"mcp\""), "\(asked.output)")
    }
}
