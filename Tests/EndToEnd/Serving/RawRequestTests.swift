import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// Bytes that a client of HTTP may send, directly and through proxies: none hides a request in
/// another one, and others are served.
@Suite("Raw requests of HTTP", .inParallel, .within(.seconds(120)), .needsHTTP)
struct RawRequestTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Bytes, and what a service replies to them: one of these, or nothing at all.
    private struct Sample: Sendable {
        let name: String
        let bytes: String
        let statuses: [Int]
        /// Whether there may be no reply: it ends before a request has, or libmicrohttpd 0.9.75 has no
        /// memory left for one.
        var isIncomplete: Bool {
            !bytes.contains("HTTP/1") || bytes.hasPrefix(" ") || name == "many parameters"
        }
    }

    private static func samples(token: String) -> [Sample] {
        let own = "Authorization: Bearer \(token)\r\nConnection: close\r\n"
        let hidden =
            "POST /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\(own)Content-Type: application/json\r\n"
            + "Content-Length: 20\r\n\r\n{\"title\":\"smuggled\"}"
        let get = { (fields: String) in
            "GET /v1/alerts HTTP/1.1\r\n\(own)Host: localhost\r\n\(fields)\r\n"
        }
        let post = { (fields: String, body: String) in
            "POST /v1/alerts/9/cancel HTTP/1.1\r\n\(own)Host: localhost\r\n"
                + "Content-Type: application/json\r\n\(fields)\r\n\(body)"
        }
        let chunks = "0\r\n\r\n\(hidden)"
        let length = "Content-Length: \(chunks.utf8.count)\r\n"
        var samples: [Sample] = []
        func add(_ name: String, _ bytes: String, _ statuses: Int...) {
            samples.append(Sample(name: name, bytes: bytes, statuses: statuses))
        }
        for value in [
            "chunked", "Chunked", "identity", "xchunked", "chunked, identity", "\u{B}chunked",
        ] {
            add(
                "both lengths: \(value)", post("Transfer-Encoding: \(value)\r\n\(length)", chunks),
                400)
            add("coded: \(value)", post("Transfer-Encoding: \(value)\r\n", chunks), 400)
        }
        add(
            "coded twice", post("Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", chunks),
            400)
        add("coded after a space", post("Transfer-Encoding : chunked\r\n\(length)", chunks), 400)
        add("two lengths", post("Content-Length: 0\r\n\(length)", chunks), 400)
        add(
            "one length twice", post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}" + hidden),
            400)
        for value in ["+2", "-2", "0x2", "2, 2", "2 2", "", "2;", "1e1", "18446744073709551618"] {
            add("length \(value)", post("Content-Length: \(value)\r\n", "{}" + hidden), 400, 413)
        }
        add("length before a space", post("Content-Length : 2\r\n", "{}" + hidden), 400)
        add("length in a name", post("X Content-Length: 2\r\n", "{}" + hidden), 400)
        add("no host", "GET /v1/alerts HTTP/1.1\r\n\(own)\r\n", 400)
        add("two hosts", get("Host: localhost\r\n"), 400)
        add("another host", "GET /v1/alerts HTTP/1.1\r\nHost: evil.example\r\n\(own)\r\n", 421)
        for host in [
            "localhost.evil.example", "127.0.0.1.nip.io", "localhost@evil", "localhost:80:80",
        ] {
            add("host \(host)", "GET /v1/alerts HTTP/1.1\r\nHost: \(host)\r\n\(own)\r\n", 400, 421)
        }
        add("another page", get("Origin: http://evil.example\r\n"), 403)
        add("no page", get("Origin: null\r\n"), 403)
        add("a control character", get("X-Odd: a\u{1}b\r\n"), 400)
        add("a zero", get("X-Odd: a\u{0}b\r\n"), 200, 400)
        add("a carriage return", get("X-Odd: a\rContent-Length: 5\r\n"), 400)
        add("a folded field", get("X-Odd: a\r\n Content-Length: 500\r\n"), 200, 400)
        add(
            "a folded host", "GET /v1/alerts HTTP/1.1\r\nX: a\r\n Host: localhost\r\n\(own)\r\n",
            400)
        add(
            "a body of GET", get("Content-Length: 2\r\nContent-Type: application/json\r\n") + "{}",
            400)
        add(
            "another type",
            post("Content-Length: 2\r\n", "{}")
                .replacingOccurrences(of: "application/json", with: "text/plain"), 415)
        add("no JSON", post("Content-Length: 2\r\n", "{["), 400)
        add(
            "a long head", get("X-Long: " + String(repeating: "a", count: 9000) + "\r\n"), 400, 414,
            431)
        add("many fields", get(String(repeating: "X-Many: a\r\n", count: 2000)), 400, 431)
        add(
            "a long target",
            "GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: localhost\r\n\(own)\r\n",
            400, 404, 414, 431)
        add("another version", "GET /v1/alerts HTTP/1.7\r\nHost: localhost\r\n\(own)\r\n", 200, 400)
        add("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, 505)
        add("HTTP/0.9", "GET /v1/alerts\r\n", 400, 405)
        add("a small method", "get /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\(own)\r\n", 400, 405)
        add("no method", " /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\(own)\r\n", 400)
        add(
            "CONNECT", "CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\(own)\r\n", 400, 404,
            405)
        add("TRACE", "TRACE /v1/alerts HTTP/1.1\r\nHost: localhost\r\n\(own)\r\n", 400, 405)
        for target in [
            "/v1/alerts/../health", "//v1/alerts", "/v1/alerts/%2e%2e/health", "/v1/alerts%00", "*",
            "/v1/alerts#x", "/v1/alerts/1/response/", "http://localhost/v1/alerts",
            "/v1/alerts?a=%",
        ] {
            add(
                "target \(target)", "POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(own)\r\n",
                400, 404, 405)
        }
        add("TLS", "\u{16}\u{3}\u{1}\u{0}\u{A5}\u{1}\u{0}\u{0}\u{A1}\u{3}\u{3}", 400)
        add("nothing", "\r\n\r\n\r\n", 400)
        return samples
    }

    @Test("Directly, an ambiguous request is refused, and its connection ends")
    func direct() async throws {
        let service = try await CommandLineQueue.Service(of: queue, listens: true)
        let token = try service.token
        let port = try #require(service.port)
        for sample in Self.samples(token: token) {
            let (statuses, text) = try Self.replies(to: sample, port)
            // libmicrohttpd 0.9.75 sends the heads of its own pages twice.
            let count = text.contains("<html>") ? 2 : 1
            let what = "\(sample.name): \(statuses)"
            #expect(
                statuses.count <= count && statuses.count >= (sample.isIncomplete ? 0 : 1),
                "\(what)")
            #expect(statuses.allSatisfy(sample.statuses.contains), "\(what)")
        }
        try await checkSound(service)
    }

    @Test(
        "Through a proxy, no request hides in another one",
        arguments: Proxy.Kind.allCases.filter { Tool.hasProxy($0.rawValue) })
    func proxied(_ kind: Proxy.Kind) async throws {
        let service = try await CommandLineQueue.Service(of: queue, listens: true)
        let token = try service.token
        let proxy = try await Proxy(kind, to: try #require(service.port), token: token)
        for sample in Self.samples(token: token) { _ = try Self.replies(to: sample, proxy.port) }
        let honest = try HTTPClient(port: proxy.port)
        // The proxy takes questions from nobody: whatever asks has been hidden from it.
        let question = #"{"title":"Q","key":"k"}"#
        #expect(try honest.request("POST", "/v1/alerts", question).status == 403)
        #expect(try HTTPClient(service).request("POST", "/v1/alerts", question).status == 201)
        // A stream isn't held back.
        let stream = try HTTPClient(port: proxy.port)
        try stream.follow(after: "0")
        #expect(try stream.event().data == "ok")
        #expect(try stream.event().name == "asked")
        try honest.send("GET", "/v1/alerts/1?wait=50s")
        #expect(try await queue.run("withdraw", "1").code == 0)
        #expect(try stream.event().name == "resolved")
        #expect(try honest.reply().json["outcome"] as? String == "withdrawn")
        try await checkSound(service)
    }

    @Test("Several requests at once get their replies one after another")
    func pipelined() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let client = try HTTPClient(service)
        let one = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let body = #"{"title":"Q"}"#
        let two =
            "POST /v1/alerts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        try client.send(one + two + one)
        #expect(try (0..<3).map { _ in try client.reply().status } == [200, 201, 200])
    }

    @Test("A thousand silent connections, and more, leave room for others")
    func silent() async throws { try await beSilent(1500) }

    @Test("Ten thousand silent connections leave room for others", .needsDescriptors(12_000))
    func tenThousand() async throws { try await beSilent(10_000) }

    private func beSilent(_ count: Int) async throws {
        LinuxProcess.raiseDescriptorLimit()
        let service = try await CommandLineQueue.Service(of: queue)
        var open: [Descriptor] = []
        for number in 0..<count {
            let socket = try UnixSocket.connect(to: service.api, within: 60)
            // Some begin a request that they never end.
            if number % 2 == 0 { _ = socket.write("POST /v1/alerts HTTP/1.1\r\nHost: lo".utf8) }
            open.append(socket)
            guard number % 100 == 0 else { continue }
            #expect(try HTTPClient(service).request("GET", "/v1/health").status == 200)
        }
        #expect(try HTTPClient(service).request("GET", "/v1/health").status == 200)
        // The one that has been silent for longest has made room.
        #expect(open[0].read()?.isEmpty == true)
    }

    private func checkSound(_ service: CommandLineQueue.Service) async throws {
        #expect(try HTTPClient(service).request("GET", "/v1/health").status == 200)
        for verb in ["list", "history"] {
            let titles = try await queue.objects(verb).compactMap { $0["title"] as? String }
            #expect(!titles.contains("smuggled"))
        }
        #expect(try await queue.isSound())
    }

    /// The replies to a sample on a connection of its own, and their statuses.
    private static func replies(
        to sample: Sample, _ port: UInt16
    ) throws -> (statuses: [Int], text: String) {
        let socket = try LocalSocket.connecting(port: port)
        UnixSocket.setTimeLimit(60, of: socket)
        _ = socket.write(sample.bytes.utf8)
        // The service would wait for the rest.
        if sample.isIncomplete { shutdown(socket.raw, Int32(SHUT_WR)) }
        var text: [UInt8] = []
        while true {
            guard let bytes = socket.read() else {
                // A proxy may reset what it has not read.
                guard errno == ECONNRESET else { throw TestingError("\(sample.name): no end") }
                break
            }
            if bytes.isEmpty { break }
            text += bytes
        }
        let all = String(decoding: text, as: UTF8.self)
        let statuses = all.components(separatedBy: "HTTP/1.").dropFirst().compactMap { part in
            part.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }
        return (statuses, all)
    }
}
