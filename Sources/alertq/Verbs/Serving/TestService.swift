import AlertQueue
import AlertService
import Linux
import TextFormats

/// A service for tests of other programs, whose queue ends with it.
struct TestService: Sendable {
    private let directory: PrivateDirectory
    private let store: any AlertStore
    private let service: QueueService
    private let port: LoopbackSocket
    private let token = ServiceToken.temporary(named: "test")
    private let ends: ScriptedEnds

    init(
        at address: LoopbackSocket.Address, _ end: ScriptedEnds.End, in context: Context
    ) async throws {
        port = try LoopbackSocket.listening(at: address)
        directory = try PrivateDirectory()
        let location = QueueLocation(directory.path + "/queue.db")
        store = try await location.open(
            clock: .system, caller: Caller(via: ServeCommand.name), isShared: true
        ) { context.note("\($0)") }
        service = try QueueService(store, at: location.description)
        try service.serveHTTP(on: port.descriptor, knowing: .token(token))
        ends = ScriptedEnds(end, of: store) { context.note("\($0)") }
    }

    /// Prints where it is, and serves until a signal comes.
    func run(_ signals: SignalWatch, in context: Context) async throws -> ExitCode {
        try context.print(
            JSONValue.object([
                ("url", .string("http://\(port.address.text)")), ("token", .string(token.secret)),
            ]).text())
        let task = Task {
            do throws(AlertError) {
                try await ends.run()
            } catch {
                context.note("nothing is answered any longer: \(error)")
            }
        }
        for await _ in signals.events { break }
        task.cancel()
        await service.stop()
        directory.remove()
        return .done
    }
}

extension LoopbackSocket {
    /// Listens at an address; the error says who has it.
    static func listening(at address: Address) throws -> LoopbackSocket {
        do {
            return try LoopbackSocket(at: address)
        } catch {
            let owner = owner(of: address).map { "; \($0) does" } ?? ""
            throw CommandError(
                .busy,
                "can't listen at \(address.text): \(error.reason)\(owner); choose another port, or 0"
            )
        }
    }
}
