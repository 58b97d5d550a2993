import AlertQueue
import TestSupport
import Testing

@testable import AlertAgents

@Suite("Messages of clients", .inParallel)
struct ClientMessageTests {
    private func request(_ line: String) throws -> ClientMessage.Request {
        let json = try ClientMessage.json(Array(line.utf8))
        guard case .request(let request) = try ClientMessage(json) else {
            throw TestingError("not a request: \(line)")
        }
        return request
    }

    private func refusal(_ line: [UInt8]) -> ClientMessage.Unreadable? {
        do throws(ClientMessage.Unreadable) {
            _ = try ClientMessage(try ClientMessage.json(line))
            return nil
        } catch {
            return error
        }
    }

    @Test("A request keeps its id, whether that is a string or an integer")
    func ids() throws {
        let rest = #""method":"ping","jsonrpc":"2.0"}"#
        #expect(try request("{\"id\":\"é\",\(rest)").id == .text("é"))
        #expect(try request("{\"id\":-7,\(rest)").id == .number(-7))
        #expect(try request("{\"id\":9223372036854775807,\(rest)").id == .number(.max))
        #expect(try request("{\"id\":5.0,\(rest)").id == .number(5))
        #expect(try request("\u{FEFF}{\"id\":1,\(rest)").id == .number(1))
        for id in [
            "1.5", "5.01", "1e300", "1e2", "9223372036854775808", "true", "null", "[]", "{}",
        ] {
            let refusal = refusal(Array("{\"id\":\(id),\(rest)".utf8))
            #expect(refusal?.error.code == .invalidRequest && refusal?.id == nil, "\(id)")
        }
    }

    @Test("Ids that only look the same are two")
    func equivalentIDs() {
        let ids: Set = [RequestID.text("\u{E9}"), .text("e\u{301}"), .text("7"), .number(7)]
        #expect(ids.count == 4 && ids.contains(.text("e\u{301}")))
    }

    @Test("A refused request is replied to with its id, if that can be read")
    func refusals() throws {
        #expect(refusal(Array(#"{"id":3,"method":"x"}"#.utf8))?.id == .number(3))
        #expect(refusal(Array(#"{"id":3,"method":"x""#.utf8))?.error.code == .parse)
        #expect(refusal([0xFF, 0xFE])?.error.code == .parse)
        // UTF-16, which Foundation would understand.
        #expect(refusal([0x7B, 0, 0x7D, 0])?.error.code == .parse)
        let deep = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        #expect(refusal(Array(deep.utf8))?.error.code == .parse)
    }

    @Test(
        "A request with a text that is not one is replied to with its id",
        arguments: [
            (#"{"id":"a","method":"x","params":{"\ud800":"\udfff"}}"#, RequestID.text("a")),
            (#"{"method":"x","params":{"a":1,"a":2},"id":7}"#, .number(7)),
            (#"{"id":1,"id":2,"method":"x"}"#, nil), (#"{"id":"\ud800","method":"x""#, nil),
        ])
    func careless(line: String, id: RequestID?) {
        let refusal = refusal(Array(line.utf8))
        #expect(refusal?.id == id && refusal?.error.code == .parse)
    }

    @Test("A request with bytes that are not UTF-8 is replied to with its id")
    func bytes() {
        let line = Array(#"{"id":3,"method":""#.utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8)
        #expect(refusal(line)?.id == .number(3))
    }

    @Test("An error names its code, and the id of its request or null")
    func errors() throws {
        let error = ProtocolError(.parse, "what")
        #expect(
            try error.reply(to: nil).text()
                == #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}}"#)
        #expect(try error.reply(to: .text("a")).text().contains(#""id":"a""#))
    }

    private static let cancellations: [(client: String?, reason: String?, isPerson: Bool)] = [
        ("claude-code", "AbortError: user-cancel", true),
        ("claude-code", "AbortError: remote-cancel", true),
        ("claude-code", "SdkError: Request timed out", false),
        ("claude-code", "AbortError: recovery-timeout", false),
        ("claude-code", "aborterror: user-cancel", false), ("claude-code", nil, false),
        ("another", "AbortError: user-cancel", false), (nil, "AbortError: user-cancel", false),
        ("mcp", "caller cancelled", false), ("mcp", "timed out after 30s", false),
        ("x", "McpError: MCP error -32001: Request timed out", false),
        ("x", "AbortError: This operation was aborted", false),
        ("x", "context deadline exceeded", false), ("x", "User requested cancellation", false),
    ]

    @Test(
        "Only a reason that a client was seen to give for a person takes a question back",
        arguments: cancellations)
    func reasons(client: String?, reason: String?, isPerson: Bool) throws {
        let context = try RequestContext(
            handshake: .object([
                ("protocolVersion", .string("2025-06-18")),
                ("clientInfo", .object([("name", .optional(client))])),
            ]))
        let end = ToolCall.End(reason: reason, of: context)
        #expect(isPerson ? end == .cancelled : end == .unawaited)
    }

    @Test("A handshake gets the revision that it asks for, or the newest that has one")
    func handshakes() throws {
        func revision(_ version: String) throws -> Revision {
            try RequestContext(
                handshake: .object([("protocolVersion", .string(version))])
            ).revision
        }
        #expect(try revision("2025-06-18") == .june2025)
        #expect(try revision("2025-11-25") == .november2025)
        #expect(try revision("2026-07-28") == .november2025)
        #expect(try revision("2025-03-26") == .march2025)
        #expect(try revision("2024-11-05") == .november2024)
        #expect(try revision("2024-10-07") == .november2025)
    }
}
