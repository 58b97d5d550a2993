import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport

/// A client of a service's HTTP that sends bytes, and reads replies one after another.
final class HTTPClient {
    struct Reply {
        let status: Int
        /// By names in small letters.
        let fields: [String: String]
        let body: String

        /// The body as JSON.
        var json: [String: any Sendable] {
            let object = try? JSONSerialization.jsonObject(with: Data(body.utf8))
            return object as? [String: any Sendable] ?? [:]
        }
        /// What kind of problem it is.
        var problem: String? {
            (json["type"] as? String)?.split(separator: ":").last.map(String.init)
        }
    }

    let socket: Descriptor
    private var rest: [UInt8] = []

    init(_ service: CommandLineQueue.Service) throws {
        socket = try UnixSocket.connect(to: service.api, within: 60)
    }

    /// Connects to a port of this machine.
    init(port: UInt16) throws {
        socket = try LocalSocket.connecting(port: port)
        UnixSocket.setTimeLimit(60, of: socket)
    }

    /// Makes a request, and reads its reply.
    func request(
        _ method: String, _ target: String, _ body: String? = nil, _ fields: [String] = []
    ) throws -> Reply {
        try send(method, target, body, fields)
        return try reply(hasBody: method != "HEAD")
    }

    func send(
        _ method: String, _ target: String, _ body: String? = nil, _ fields: [String] = []
    ) throws {
        let own = body.map { body in
            ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        }
        let lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + (own ?? []) + fields
        try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
    }

    func send(_ text: String) throws {
        guard socket.write(text.utf8) else { throw TestingError("the service is gone") }
    }

    /// Reads a reply; throws if the connection ends first.
    func reply(hasBody: Bool = true) throws -> Reply {
        let head = String(decoding: try read(until: Array("\r\n\r\n".utf8)), as: UTF8.self)
        var lines = head.components(separatedBy: "\r\n").filter { !$0.isEmpty }
        let status = lines.removeFirst().split(separator: " ").dropFirst().first.flatMap { Int($0) }
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw TestingError("no field: \(line)") }
            fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let length = hasBody ? fields["content-length"].flatMap { Int($0) } ?? 0 : 0
        while rest.count < length { try readMore() }
        defer { rest.removeFirst(length) }
        return Reply(
            status: status ?? 0, fields: fields,
            body: String(decoding: rest.prefix(length), as: UTF8.self))
    }

    /// Reads the next event of a stream of HTTP/1.0, which has no chunks; comments are left out.
    func event() throws -> (id: String?, name: String?, data: String?) {
        while true {
            let text = String(decoding: try read(until: Array("\n\n".utf8)), as: UTF8.self)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix(":") }
            guard !lines.isEmpty else { continue }
            let value = { (name: String) in
                lines.first { $0.hasPrefix(name + ": ") }.map {
                    String($0.dropFirst(name.count + 2))
                }
            }
            return (value("id"), value("event"), value("data"))
        }
    }

    /// Begins to follow the log.
    func follow(after cursor: String?) throws {
        let last = cursor.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        try send("GET /v1/events HTTP/1.0\r\nHost: localhost\r\n\(last)\r\n")
        guard try reply().status == 200 else { throw TestingError("there are no events") }
    }

    /// Whether the service has closed the connection, and has sent nothing more.
    func isClosed() -> Bool { rest.isEmpty && socket.read()?.isEmpty == true }

    private func read(until end: [UInt8]) throws -> [UInt8] {
        var start = 0
        while true {
            if let found = rest.firstRange(of: end, from: start) {
                defer { rest.removeFirst(found + end.count) }
                return Array(rest[..<found])
            }
            start = max(0, rest.count - end.count)
            try readMore()
        }
    }

    private func readMore() throws {
        guard let bytes = socket.read(), !bytes.isEmpty else {
            throw TestingError("the connection has ended")
        }
        rest += bytes
    }
}

extension [UInt8] {
    fileprivate func firstRange(of end: [UInt8], from start: Int) -> Int? {
        guard count >= end.count else { return nil }
        return (start...(count - end.count)).first { self[$0...].starts(with: end) }
    }
}
