import AlertQueue
import Glibc
import Linux
import SQLiteStore

/// Requests of the API over HTTP, each compared with the same call of the library on a file, and
/// those of many processes with plain SQLite.
enum ServiceRequests: Benchmark {
    static let name = "service"
    static let abstract = "Requests over a service's socket, compared with the library's calls"

    private static let processes = 16

    static func run(_ plan: Plan) async throws -> [Row] {
        var times: [String: (ours: [Double], library: [Double])] = [:]
        var (asks, plain): ([Double], [Double]) = ([], [])
        for _ in 0..<plan.rounds {
            let workspace = try Workspace()
            guard let service = try Service(in: workspace) else { return [] }
            let library = try await call(workspace.path("file.db"), count: plan.count(300))
            let ours = try request(service, count: plan.count(300))
            for (step, values) in ours { times[step, default: ([], [])].ours += values }
            for (step, values) in library { times[step, default: ([], [])].library += values }
            plain.append(try await ManyProcesses.measure(.plain, count: plan.count(100)).rate)
            asks.append(try rate(of: service, count: plan.count(100)))
        }
        return steps.compactMap { step in
            times[step].map { times in
                .time(
                    name, "\(step), p50", ours: times.ours.median, plain: times.library.median,
                    unit: "µs", atMost: 2)
            }
        } + [
            .rate(
                name, "asks by \(processes) processes", ours: asks.median, plain: plain.median,
                atLeast: 3)
        ]
    }

    private static let steps = ["ask", "show", "answer", "collect"]

    private static let body = """
        {"title":"Prune old snapshots?","message":"40 GB","source":"bench","buttons":\
        [{"id":"yes","title":"Yes"},{"id":"no","title":"No","role":"cancel"}]}
        """

    /// A service in a process of its own.
    private final class Service {
        let socket: String
        private let child: BenchmarkChild

        /// - Returns: `nil` where there is no libmicrohttpd.
        init?(in workspace: Workspace) throws {
            child = try BenchmarkChild(.serve, workspace.directory)
            guard let line = child.line() else { throw BenchmarkError("the service has failed") }
            guard !line.isEmpty else { return nil }
            socket = line
        }
    }

    /// How long each step takes through the service, in microseconds.
    private static func request(_ service: Service, count: Int) throws -> [String: [Double]] {
        let client = try ServiceClient(service.socket)
        var times: [String: [Double]] = [:]
        let measure = { (step: String, method: String, target: String, body: String) in
            let start = ContinuousClock.now
            try client.request(method, target, body)
            times[step, default: []].append((ContinuousClock.now - start).inMicroseconds)
        }
        for id in 1...count {
            try measure("ask", "POST", "/v1/alerts", body)
            try measure("show", "GET", "/v1/alerts/\(id)", "")
            try measure("answer", "POST", "/v1/alerts/\(id)/response", #"{"button":"yes"}"#)
            try measure("collect", "POST", "/v1/alerts/\(id)/collect", "{}")
        }
        return times
    }

    /// The same through the library.
    private static func call(_ path: String, count: Int) async throws -> [String: [Double]] {
        let manager = try await AlertManager(path: path)
        var times: [String: [Double]] = [:]
        let measure = { (step: String, call: () async throws -> Void) in
            let start = ContinuousClock.now
            try await call()
            times[step, default: []].append((ContinuousClock.now - start).inMicroseconds)
        }
        for _ in 1...count {
            var id: Alert.ID = 0
            try await measure("ask") {
                id = try await manager.submit(DurableAsk.question).record.id
            }
            try await measure("show") { _ = try await manager.record(id) }
            try await measure("answer") { _ = try await manager.answer(id, button: "yes") }
            try await measure("collect") { try await manager.collect(id) }
        }
        await manager.close()
        return times
    }

    /// The asks per second of all processes.
    private static func rate(of service: Service, count: Int) throws -> Double {
        let children = try (0..<processes).map { _ in
            try BenchmarkChild(.request, service.socket, "\(count)")
        }
        for child in children { _ = child.line() }
        let start = ContinuousClock.now
        for child in children { child.go() }
        for child in children {
            guard child.wait() == 0 else { throw BenchmarkError("a client has failed") }
        }
        return Double(processes * count) / (ContinuousClock.now - start).inSeconds
    }

    // MARK: - In processes of their own

    /// Asks through a service.
    static func ask(_ socket: String, count: Int) throws {
        let client = try ServiceClient(socket)
        ChildMode.ready()
        for _ in 0..<count { try client.request("POST", "/v1/alerts", body) }
    }
}

/// A client that makes one request after another over a connection.
private final class ServiceClient {
    private let socket: Descriptor

    init(_ path: String) throws { socket = try UnixSocket.connect(to: path, within: 60) }

    /// - Throws: ``BenchmarkError`` for a reply that is no success.
    func request(_ method: String, _ target: String, _ body: String) throws {
        let type = body.isEmpty ? "" : "Content-Type: application/json\r\n"
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(type)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n"
        guard socket.write((head + body).utf8) else { throw BenchmarkError("the service is gone") }
        var bytes: [UInt8] = []
        var size: Int?
        while size.map({ bytes.count < $0 }) ?? true {
            guard let more = socket.read(), !more.isEmpty else {
                throw BenchmarkError("the service is gone")
            }
            bytes += more
            size = size ?? Self.size(bytes)
        }
        guard bytes.starts(with: "HTTP/1.1 20".utf8) else {
            throw BenchmarkError("\(target): \(String(decoding: bytes, as: UTF8.self))")
        }
    }

    /// How many bytes a reply has; `nil` before its head is whole.
    private static func size(_ bytes: [UInt8]) -> Int? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let head = text.firstRange(of: "\r\n\r\n"),
            let length = text[..<head.lowerBound].split(separator: "\r\n").lazy.compactMap({
                $0.hasPrefix("Content-Length: ") ? Int($0.dropFirst(16)) : nil
            }).first
        else { return nil }
        return text[..<head.upperBound].utf8.count + length
    }
}
