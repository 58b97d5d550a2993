import Foundation
import Linux
import ProcessTesting
import TestSupport

/// A client of the API that sends lines to a service's socket, one after another.
final class APIClient {
    struct Reply {
        let status: Int
        let headers: [String: String]
        let body: [String: any Sendable]

        /// What kind of problem it is.
        var problem: String? {
            (body["type"] as? String)?.split(separator: ":").last.map(String.init)
        }
        var detail: String { body["detail"] as? String ?? "" }
    }

    private let socket: Descriptor
    private var rest: [UInt8] = []
    private var last = 0

    init(of service: CommandLineQueue.Service) throws {
        socket = try UnixSocket.connect(to: service.socket, within: 60)
    }

    /// Makes a request with a body of JSON, and reads its reply.
    func request(_ method: String, _ target: String, _ body: String? = nil) throws -> Reply {
        try send(method, target, body)
        return try reply()
    }

    func send(_ method: String, _ target: String, _ body: String? = nil) throws {
        last += 1
        let target = try String(
            decoding: JSONSerialization.data(withJSONObject: target, options: .fragmentsAllowed),
            as: UTF8.self)
        let body = body.map { ",\"body\":\($0)" } ?? ""
        let line = "{\"id\":\(last),\"method\":\"\(method)\",\"path\":\(target)\(body)}\n"
        guard socket.write(line.utf8) else { throw TestingError("the service is gone") }
    }

    func reply() throws -> Reply {
        // A reply may have millions of bytes: each is looked at once.
        var end = rest.firstIndex(of: UInt8(ascii: "\n"))
        while end == nil {
            guard let bytes = socket.read(), !bytes.isEmpty else {
                throw TestingError("the service sends no reply")
            }
            end = bytes.firstIndex(of: UInt8(ascii: "\n")).map { rest.count + $0 }
            rest += bytes
        }
        let line = rest[..<(end ?? 0)]
        rest.removeFirst(line.count + 1)
        let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: any Sendable]
        guard let object, let status = object["status"] as? Int,
            let body = object["body"] as? [String: any Sendable]
        else { throw TestingError("no reply: \(String(decoding: line, as: UTF8.self))") }
        return Reply(
            status: status, headers: object["headers"] as? [String: String] ?? [:], body: body)
    }
}
