import Foundation
import Glibc
import TestSupport

extension CommandLineQueue {
    /// A running `alertq serve`.
    package final class Service: Sendable {
        package let queue: CommandLineQueue
        package let process: Child
        /// The directory of its sockets.
        package let directory: String

        package var socket: String { directory + "/alertq.sock" }
        package var location: String { "unix:" + socket }
        /// The socket for HTTP.
        package var api: String { directory + "/api.sock" }
        /// The token for the port.
        package var token: String {
            get throws {
                try String(contentsOfFile: directory + "/api.token", encoding: .utf8)
                    .trimmingCharacters(in: .newlines)
            }
        }
        /// The port for HTTP, if it was started with one.
        package var port: UInt16? {
            let url = process.errors.text.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/)
            return url.flatMap { UInt16($0.1) }
        }

        /// Starts to serve a queue, and waits until clients can connect.
        ///
        /// - Parameters:
        ///   - name: The name of the directory of its sockets, beside the queue.
        ///   - listens: Whether it serves a port, too.
        ///   - port: Which one; 0 for a free one.
        ///   - url: Where clients reach it, too.
        ///   - library: The name of a library that it finds no such library for.
        package init(
            of queue: CommandLineQueue, in name: String = "sockets", listens: Bool = false,
            port: UInt16 = 0, url: String? = nil, without library: String? = nil
        ) async throws {
            self.queue = queue
            directory = queue.directory + "/" + name
            let port = listens ? ["--listen", "127.0.0.1:\(port)"] : []
            process = try queue.start(
                ["serve", "--sockets", directory] + port + (url.map { ["--url", $0] } ?? []),
                environment: try library.map(queue.environment) ?? [:])
            let process = process
            let last = listens ? "serving http" : "serving "
            guard await eventually({ process.errors.text.contains(last) }) else {
                throw TestingError("the service does not start: \(process.errors.text)")
            }
        }

        deinit { process.kill(SIGKILL) }
    }

    /// The same queue, as clients of a service see it.
    package func served() async throws -> CommandLineQueue {
        try CommandLineQueue(behind: try await Service(of: self))
    }

    /// The same queue, as clients on another host see it, who get no other one.
    package func overSSH() async throws -> CommandLineQueue {
        let server = try await SSHServer(
            running: "\(Self.program) serve --stdio --database \(path)")
        return try CommandLineQueue(at: server.location, over: server, keeping: self)
    }
}
