import AlertCore
import FoundationEssentials
import Glibc
import Linux

/// A client that sends its lines to this process's standard input and reads the replies from its
/// standard output, as ssh(1) or a parent process does.
package final class StdioClient: Sendable {
    /// How long a service may take to accept it, in seconds.
    private static let greetingTime = 5

    /// What is still to be sent to a service, and what that has said already.
    package struct Connection: Sendable {
        fileprivate let socket: Descriptor
        fileprivate let request: [UInt8]
        fileprivate let reply: [UInt8]
    }

    /// The first line and what came with it.
    private let bytes: [UInt8]
    /// How many of them are the first line.
    private let lineLength: Int
    private let first: ServiceRequest

    /// What it wants: a client of the API says nothing of that.
    package var opening: Opening {
        if case .open(let opening) = first.route { opening } else { Opening() }
    }

    /// Waits for the first line; `nil` if the client ends before that.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for a line that is no request, which is also the reply
    ///   to it, and the error of reading.
    package static func first() async throws(AlertError) -> StdioClient? {
        let arrived = OneShot<Result<[UInt8], LinuxError>>()
        DedicatedThread.start {
            arrived.deliver(Result { () throws(LinuxError) in try readLine() })
        }
        let bytes: [UInt8]
        do {
            bytes = try await arrived.value().get()
        } catch {
            throw .storage(operation: "read standard input", error.reason)
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            guard bytes.count > LineSplitter.limit else { return nil }
            throw replied(.tooLong)
        }
        do throws(LineRefusal) {
            let first = try ServiceRequest(line: Array(bytes[..<end]))
            return StdioClient(bytes, lineLength: end + 1, first)
        } catch {
            throw replied(error)
        }
    }

    private init(_ bytes: [UInt8], lineLength: Int, _ first: ServiceRequest) {
        self.bytes = bytes
        self.lineLength = lineLength
        self.first = first
    }

    private static func readLine() throws(LinuxError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !bytes.contains(UInt8(ascii: "\n")), bytes.count <= LineSplitter.limit {
            let count = try SharedDescriptor.read(STDIN_FILENO, into: &buffer)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            // Lines without text are none.
            while bytes.first == UInt8(ascii: "\n") { bytes.removeFirst() }
        }
        return bytes
    }

    /// Replies to a line that is no request; returns the error.
    private static func replied(_ refusal: LineRefusal) -> AlertError {
        try? SharedDescriptor.write(refusal.reply, to: STDOUT_FILENO)
        return refusal.error
    }

    /// Says why it can't be served.
    package func refuse(_ error: AlertError) {
        let line =
            if case .api = first.route {
                Problem(error).reply.line(first.id)
            } else {
                ServiceReply<Opened>(id: first.id, value: nil, error: error).line
            }
        try? SharedDescriptor.write(line, to: STDOUT_FILENO)
    }

    // MARK: - Services

    /// Has it served over a socket, from its first line on.
    package func connection(over socket: Descriptor) -> Connection {
        Connection(socket: socket, request: bytes, reply: [])
    }

    /// Connects it to the service that listens at a path.
    ///
    /// - Parameter database: The queue that is wanted; `nil` for what the client says.
    /// - Throws: ``AlertError/unreachable(_:)`` if none listens, and what the service says.
    package func connection(
        toServiceAt path: String, of database: String?
    ) throws(AlertError) -> Connection {
        let silence = AlertError.unreachable("says nothing at \(path)")
        let opens = if case .open = first.route { true } else { false }
        let socket: Descriptor
        do throws(LinuxError) {
            socket = try UnixSocket.connect(to: path, within: Self.greetingTime)
        } catch {
            throw .unreachable("can't be reached at \(path): \(error.reason)")
        }
        var opening = opening
        opening.database = database ?? opening.database
        // The client may be on another machine: its own word on these counts for nothing here.
        opening.told = Caller(via: "serve")
        let request = ServiceRequest(id: opens ? first.id : 0, .open(opening))
        guard let line = try? JSONEncoder().encode(request),
            socket.write(line + [UInt8(ascii: "\n")])
        else { throw silence }
        var reply: [UInt8] = []
        while reply.last != UInt8(ascii: "\n") {
            guard let bytes = socket.read(), !bytes.isEmpty else { throw silence }
            reply += bytes
        }
        let opened = try? JSONDecoder().decode(ServiceReply<Opened>.self, from: Data(reply))
        if let error = opened?.body.error { throw error }
        UnixSocket.setTimeLimit(nil, of: socket)
        return opens
            ? Connection(socket: socket, request: Array(bytes[lineLength...]), reply: reply)
            : Connection(socket: socket, request: bytes, reply: [])
    }

    /// Carries what the client says to a service, and its replies back, until the service has ended
    /// the connection: once the client has, after its last reply.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)`` if standard output fails while the client is
    ///   still there.
    package func carry(over connection: Connection) async throws(AlertError) {
        let socket = connection.socket
        let hasEnded = OneShot<LinuxError?>()
        DedicatedThread.start {
            _ = Self.copy(connection.request, STDIN_FILENO, to: socket.raw)
            shutdown(socket.raw, Int32(SHUT_WR))
        }
        DedicatedThread.start {
            let error = Self.copy(connection.reply, socket.raw, to: STDOUT_FILENO)
            shutdown(socket.raw, Int32(SHUT_RDWR))
            hasEnded.deliver(error)
        }
        // A client that is gone may not be noticed otherwise: nothing is written while requests wait.
        DedicatedThread.start {
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0, errno == EINTR {}
            shutdown(socket.raw, Int32(SHUT_RDWR))
        }
        if let error = await hasEnded.value(), error.code != EPIPE, error.operation == Self.writing
        {
            throw .storage(operation: "write to standard output", error.reason)
        }
    }

    /// What SharedDescriptor calls it.
    private static let writing = "write"

    /// Copies bytes, and then all that can be read, until either side has ended; returns what failed.
    private static func copy(_ bytes: [UInt8], _ source: Int32, to target: Int32) -> LinuxError? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        do throws(LinuxError) {
            try SharedDescriptor.write(bytes, to: target)
            while true {
                let count = try SharedDescriptor.read(source, into: &buffer)
                guard count > 0 else { return nil }
                try SharedDescriptor.write(Array(buffer[..<count]), to: target)
            }
        } catch {
            return error
        }
    }
}

extension StdioClient.Connection {
    /// Says nothing more to the service, which replies to what it has; in a second, the connection
    /// ends.
    package func finish() {
        shutdown(socket.raw, Int32(SHUT_WR))
        Task {
            try? await Task.sleep(for: .seconds(1))
            shutdown(socket.raw, Int32(SHUT_RDWR))
        }
    }
}
