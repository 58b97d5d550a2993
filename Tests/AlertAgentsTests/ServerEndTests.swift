import AlertQueue
import Synchronization
import TestSupport
import Testing
import TextFormats

@testable import AlertAgents

@Suite("The end of a server", .inParallel)
struct ServerEndTests {
    /// A host whose calls take a while after their replies.
    private final class SlowHost: ToolHost {
        let hasFinished = Atomic<Bool>(false)

        var tools: [Tool] { [AgentTools.listMine] }

        func reply(to call: ToolCall) async throws(ProtocolError) -> ToolReply? {
            ToolReply(content: .done) { [self] isWritten in
                // Not interrupted by the end of the server, which would cancel the call's task.
                await Task { try? await Task.sleep(for: .milliseconds(300)) }.value
                hasFinished.store(isWritten, ordering: .releasing)
            }
        }

        func task(_ id: String, of client: RequestContext) async throws(ProtocolError) -> ToolReply
        {
            throw ProtocolError(.internalError, "no tasks")
        }

        func cancelTask(_ id: String, of client: RequestContext) async throws(ProtocolError) {}
    }

    @Test("It waits for what follows a reply, such as that the answer counts as collected")
    func waitsForCalls() async throws {
        let host = SlowHost()
        let written = Mutex("")
        let server = ModelContextServer(
            host: host, identity: ServerIdentity(name: "a", version: "1", instructions: ""),
            writer: LineWriter { text in written.withLock { $0 += text } }, note: { _ in })
        let meta = """
            "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
            "io.modelcontextprotocol/clientCapabilities":{}}
            """
        server.receive(
            .whole(
                Array(
                    """
                    {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_mine",\
                    \(meta)}}
                    """.utf8)))
        #expect(await eventually { written.withLock { $0 }.contains("\"id\":1") })
        await server.end()
        let hasFinished = host.hasFinished.load(ordering: .acquiring)
        #expect(hasFinished)
    }

    @Test("Calls whose replies the client has yet to read count, too")
    func closingCalls() throws {
        let calls = CallsInProgress()
        let writer = LineWriter { _ in }
        let client = try #require(try RequestContext(meta: Self.meta))
        func call(_ number: Int) -> ToolCall {
            ToolCall(
                id: .number(Int64(number)), name: "list_mine", arguments: .object([]),
                client: client, replies: Replies(writer), writer: writer)
        }
        let first = call(0)
        for number in 0..<CallsInProgress.limit {
            let next = number == 0 ? first : call(number)
            try calls.add(next)
            calls.close(next)
        }
        #expect(throws: ProtocolError.self) { try calls.add(call(-1)) }
        calls.remove(first)
        try calls.add(call(-1))
    }

    private static let meta = JSONValue.object([
        ("io.modelcontextprotocol/protocolVersion", .string("2026-07-28")),
        ("io.modelcontextprotocol/clientCapabilities", .object([])),
    ])
}
