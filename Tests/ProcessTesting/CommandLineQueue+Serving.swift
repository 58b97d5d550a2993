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

        /// Starts to serve a queue, and waits until clients can connect.
        ///
        /// - Parameter name: The name of the directory of its sockets, beside the queue.
        package init(of queue: CommandLineQueue, in name: String = "sockets") async throws {
            self.queue = queue
            directory = queue.directory + "/" + name
            process = try queue.start(["serve", "--sockets", directory])
            let process = process
            guard await eventually({ process.errors.text.contains("serving ") }) else {
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
