import Foundation
import Glibc
import Linux
import Synchronization
import TestSupport

/// An agent's client: starts `alertq mcp`, and exchanges messages with it through pipes.
package final class AgentClient: Sendable {
    /// The revision that a client speaks: how it says who it is.
    package enum Era: String, Sendable, CaseIterable {
        /// With each request.
        case july2026 = "2026-07-28"
        /// With a handshake.
        case november2025 = "2025-11-25"
        case june2025 = "2025-06-18"
        case march2025 = "2025-03-26"
        case november2024 = "2024-11-05"

        /// Whether results have a form for programs.
        package var hasStructuredResults: Bool { rawValue >= Era.june2025.rawValue }
    }

    package let server: Child
    private let era: Era
    private let name: String
    private let takesTasks: Bool
    private let input: Mutex<Descriptor?>
    private let lastID = Atomic<Int>(0)

    /// Starts a server, and greets it if that is how it is done; `wrapper` is a command that runs
    /// it.
    package init(
        _ queue: CommandLineQueue, _ era: Era = .july2026, name: String = "agent",
        takesTasks: Bool = false, options: [String] = [], under wrapper: [String] = []
    ) async throws {
        let pipe = try Pipe(waits: true)
        let words = wrapper + [CommandLineQueue.program, "mcp"] + options
        server = try Child(
            words[0], Array(words.dropFirst()),
            environment: ["ALERTQ_DATABASE": queue.path], input: pipe.reading.raw)
        self.era = era
        self.name = name
        self.takesTasks = takesTasks
        input = Mutex(pipe.writing)
        guard era != .july2026 else { return }
        let id = request(
            "initialize",
            [
                "protocolVersion": era.rawValue, "capabilities": [String: String](),
                "clientInfo": ["name": name, "version": "1"],
            ])
        _ = try await reply(to: id)
        send(["jsonrpc": "2.0", "method": "notifications/initialized"])
    }

    /// Writes a line as it is.
    package func send(line: String) {
        let bytes = Array((line + "\n").utf8)
        input.withLock { input in
            guard let input else { return }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(input.raw, $0.baseAddress, $0.count) }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    package func send(_ message: [String: Any]) {
        guard let data = try? JSONSerialization.data(withJSONObject: message) else { return }
        send(line: String(decoding: data, as: UTF8.self))
    }

    /// Sends a request, and returns its id.
    @discardableResult
    package func request(
        _ method: String, _ params: [String: Any] = [:], progressToken: String? = nil
    ) -> Int {
        let id = lastID.add(1, ordering: .relaxed).newValue
        var params = params
        var meta: [String: Any] = [:]
        if let progressToken { meta["progressToken"] = progressToken }
        if era == .july2026 {
            let prefix = "io.modelcontextprotocol/"
            let extensions: [String: Any] =
                takesTasks ? [prefix + "tasks": [String: String]()] : [:]
            meta[prefix + "protocolVersion"] = era.rawValue
            meta[prefix + "clientInfo"] = ["name": name, "version": "1"]
            meta[prefix + "clientCapabilities"] = ["extensions": extensions]
        }
        if !meta.isEmpty { params["_meta"] = meta }
        send(["jsonrpc": "2.0", "id": id, "method": method, "params": params])
        return id
    }

    /// Starts a call of a tool, and returns its id.
    package func start(
        _ tool: String, _ arguments: [String: Any] = [:], progressToken: String? = nil
    ) -> Int {
        request(
            "tools/call", ["name": tool, "arguments": arguments], progressToken: progressToken)
    }

    /// Calls a tool, and waits for its reply.
    package func call(_ tool: String, _ arguments: [String: Any] = [:]) async throws -> AgentReply {
        try await reply(to: start(tool, arguments))
    }

    package func cancel(_ id: Int, reason: String?) {
        var params: [String: Any] = ["requestId": id]
        params["reason"] = reason
        send(["jsonrpc": "2.0", "method": "notifications/cancelled", "params": params])
    }

    /// All messages of the server so far.
    package var messages: [AgentReply] {
        server.output.text.split(separator: "\n").compactMap { line in
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
            return (object as? [String: any Sendable]).map(AgentReply.init)
        }
    }

    /// The reply to a request, once it comes.
    package func reply(to id: Int) async throws -> AgentReply {
        var reply: AgentReply?
        _ = await eventually {
            reply = messages.first { $0.id == id }
            return reply != nil || server.poll() != nil
        }
        reply = reply ?? messages.first { $0.id == id }
        guard let reply else {
            throw TestingError("no reply to request \(id); \(server.errors.text.suffix(500))")
        }
        return reply
    }

    /// Waits until the server has carried out everything that was sent before; what it has not
    /// replied to by then waits.
    package func settle() async throws {
        _ = try await reply(to: request("tools/list"))
    }

    /// Closes the server's stdin.
    package func close() { input.withLock { $0 = nil } }

    /// Closes the server's stdin, and waits for its end.
    package func finish() async -> Finished {
        close()
        return await server.finish()
    }

    /// Closes the other end of the server's stdout, as a client does that dies; returns whether
    /// that has happened.
    package func stopReading() async -> Bool {
        let pipe = LinuxFile.link("/proc/\(server.pid)/fd/1")
        server.output.abandon()
        // A process that another test has just forked keeps it, too, until it executes its program.
        return await eventually {
            LinuxFile.names(in: "/proc").compactMap { pid_t($0) }.allSatisfy { process in
                let folder = "/proc/\(process)/fd"
                return process == server.pid
                    || LinuxFile.names(in: folder).allSatisfy { name in
                        LinuxFile.link("\(folder)/\(name)") != pipe
                    }
            }
        }
    }

    /// Kills the server, and waits until it is dead.
    package func kill() async {
        server.kill(SIGKILL)
        _ = await server.exit()
    }
}
