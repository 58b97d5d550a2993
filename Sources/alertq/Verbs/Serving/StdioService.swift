import AlertQueue
import AlertService
import Glibc
import Linux

/// The service of one client on standard input and output: a service that has the queue already does
/// the work, or else this process.
struct StdioService: Sendable {
    private let queue: QueueChoice
    private let context: Context

    init(of queue: QueueChoice, in context: Context) {
        self.queue = queue
        self.context = context
    }

    /// Serves the client until it ends, or a signal comes.
    func run(_ signals: SignalWatch) async throws -> ExitCode {
        guard !queue.location.isElsewhere else {
            throw UsageError("--stdio serves a queue that this machine reaches, not ssh://…")
        }
        if isatty(STDIN_FILENO) == 1 {
            context.note("reading requests from this terminal; Ctrl-D ends")
        }
        let arrived = OneShot<Result<StdioClient?, AlertError>>()
        SignalWatch.whenEnding { arrived.deliver(.success(nil)) }
        Task {
            do throws(AlertError) {
                arrived.deliver(.success(try await StdioClient.first()))
            } catch {
                arrived.deliver(.failure(error))
            }
        }
        guard let client = try await arrived.value().get() else { return .done }
        do throws(AlertError) {
            try await serve(client)
        } catch {
            client.refuse(error)
            throw error
        }
        return .done
    }

    private func serve(_ client: StdioClient) async throws(AlertError) {
        let queue = try choice(of: client)
        if let connection = try connection(of: client, to: queue) {
            SignalWatch.whenEnding { connection.finish() }
            return try await client.carry(over: connection)
        }
        let service = try QueueService(
            try await open(queue, for: client), at: queue.place, as: .standardInput)
        // What has come is replied to, and then the connection ends.
        SignalWatch.whenEnding { Task { await service.stop() } }
        do throws(AlertError) {
            try await client.carry(over: client.connection(over: try service.connect()))
        } catch {
            await service.stop()
            throw error
        }
        await service.stop()
    }

    private func open(
        _ queue: QueueChoice, for client: StdioClient
    ) async throws(AlertError) -> any AlertStore {
        let caller = Caller(via: ServeCommand.name)
        guard client.opening.isReadOnly == true else {
            return try await queue.location.open(clock: .system, caller: caller, isShared: true) {
                [context] in context.note("\($0)")
            }
        }
        guard !QueuePresence.isMissing(queue.path) else {
            throw .missing(location: queue.path, "nobody has asked anything there yet")
        }
        return try await queue.location.openForReading(clock: .system, caller: caller) {
            [context] in
            context.note("\(queue.path) can't be read where it is: a copy of it is read")
        }
    }

    /// The queue that the client gets: the one that was named here, else the one that it wants.
    private func choice(of client: StdioClient) throws(AlertError) -> QueueChoice {
        guard let path = client.opening.database else { return queue }
        if queue.isDefault {
            guard path.hasPrefix("/") else {
                throw .invalid(
                    "database", "of a client is a file of this machine: give its whole path")
            }
            return .file(path)
        }
        // Its own service compares it.
        guard queue.location.isService || path.isIdentical(to: queue.place) else {
            throw .notPermitted(path: path, "this service serves \(queue.place)")
        }
        return queue
    }

    /// The connection to a service that has the queue; `nil` if there is none.
    private func connection(
        of client: StdioClient, to queue: QueueChoice
    ) throws(AlertError) -> StdioClient.Connection? {
        guard queue.location.isService else {
            return ServiceSockets.directory(of: queue).flatMap { directory in
                try? client.connection(
                    toServiceAt: ServiceSockets.lines(in: directory), of: queue.place)
            }
        }
        var failure = AlertError.closed
        for path in queue.location.sockets {
            do throws(AlertError) {
                return try client.connection(toServiceAt: path, of: nil)
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
