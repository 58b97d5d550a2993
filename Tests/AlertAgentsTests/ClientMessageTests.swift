import AlertQueue
import TestSupport
import Testing

@testable import AlertAgents

@Suite("Messages of clients", .inParallel)
struct ClientMessageTests {
    private func request(_ line: String) throws -> ClientMessage.Request {
        guard case .request(let request) = try ClientMessage(Array(line.utf8)) else {
            throw TestingError("not a request: \(line)")
        }
        return request
    }

    private func refusal(_ line: [UInt8]) -> ClientMessage.Unreadable? {
        do throws(ClientMessage.Unreadable) {
            _ = try ClientMessage(line)
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
        for id in ["1.5", "1e300", "9223372036854775808", "true", "null", "[]", "{}"] {
            let refusal = refusal(Array("{\"id\":\(id),\(rest)".utf8))
            #expect(refusal?.error.code == .invalidRequest && refusal?.id == nil, "\(id)")
        }
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

    @Test("An error names its code, and the id of its request or null")
    func errors() throws {
        let error = ProtocolError(.parse, "what")
        #expect(
            try error.reply(to: nil).text()
                == #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}}"#)
        #expect(try error.reply(to: .text("a")).text().contains(#""id":"a""#))
    }

    @Test(
        "A client that has waited long enough is distinguished from one that cancels",
        arguments: [
            ("timed out after 30s", true), ("Timed out", true), ("request timeout", true),
            ("McpError: MCP error -32001: Request timed out", true), ("caller cancelled", false),
            ("AbortError: This operation was aborted", false), (nil, false),
        ])
    func reasons(reason: String?, isTimeout: Bool) {
        let end = ToolCall.End(reason: reason)
        #expect(isTimeout ? end == .timedOut : end == .cancelled)
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
        #expect(try revision("2024-11-05") == .november2025)
    }
}
