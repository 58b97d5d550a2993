import AlertQueue
import AlertService
import Glibc
import Linux

/// `alertq serve`: serves a queue to other programs, for as long as it runs.
struct ServeCommand: Command {
    static let name = "serve"
    static let abstract = "Serve a queue to other programs through a socket, until stopped"
    static let options: [Option<Self>] = [
        Option(
            "sockets", .path(ifEmpty: "the path is empty"), \.directory,
            help: """
                Make the sockets in this directory (default: /run/alertq for the system queue, else \
                $XDG_RUNTIME_DIR/alertq)
                """)
    ]
    static let discussion = [
        """
        Programs use the queue as --database unix:PATH, with the path of the socket alertq.sock in \
        the directory: every verb but backup, restore, purge, store copy and the repairs of doctor, \
        which are run beside the service, with the queue's own path. The queue may be a file or in \
        PostgreSQL. The account of who asks or answers is what the kernel says about the other end \
        of the socket, whatever a client says.
        """,
        """
        Many clients share one commit, and so one wait for the disk. A client whose service is gone \
        waits for it for two minutes, and loses nothing: what it sends again is found. With \
        unix:PATH,PATH a client tries several services of the same queue in turn.
        """,
        """
        The socket is this account's alone (mode 0600). A file that is served can still be opened by \
        whoever may write it, with the same promises. A signal ends the service once the requests \
        that have come are done, after five seconds at most.
        """,
    ]
    static let examples = [
        Example("alertq serve", "Serve your own queue in your login session"),
        Example(
            "alertq serve --database /srv/queue.db --sockets /run/backup",
            "Serve another one; clients add --database unix:/run/backup/alertq.sock"),
    ]

    var common = QueueOptions()
    private var directory: String?

    func run(in context: Context) async throws -> ExitCode {
        guard !queue.location.isService else {
            throw UsageError(
                "a service serves a file or a queue in PostgreSQL, not another service")
        }
        // Each client takes one, and each that waits another one.
        LinuxProcess.raiseDescriptorLimit()
        let signals = SignalWatch(stops: false, endsWithin: .seconds(10))
        let sockets = try ServiceSockets(in: try chosenDirectory())
        let store = try await queue.store(via: Self.name) { context.note("\($0)") }
        let service = try QueueService(store, at: queue.location.description, on: sockets)
        context.inform("serving \(queue.location.description) at \(service.location)")
        for await _ in signals.events { break }
        await service.stop()
        return .done
    }

    private func chosenDirectory() throws -> String {
        if let directory { return QueueChoice.absolute(directory) }
        if queue.path == QueueLocation.systemPath { return ServiceSockets.systemDirectory }
        if let directory = ServiceSockets.userDirectory { return directory }
        throw CommandError(
            .notFound,
            "$XDG_RUNTIME_DIR names no directory for the sockets; name one with --sockets")
    }
}
