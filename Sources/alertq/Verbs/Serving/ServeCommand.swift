import AlertQueue
import AlertService
import Glibc
import Linux
import TextFormats

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
                """),
        Option(
            "listen", .loopbackAddress, \.address,
            help: """
                Serve HTTP at this address of this machine, too, such as 127.0.0.1:8080, to clients \
                that have the token; port 0 is a free one
                """),
        Option(
            "url", .serviceURL, \.url,
            help: """
                The address at which clients reach it through a proxy, such as \
                https://alerts.example/alerts (default: $ALERTQ_URL); its host is a name of the \
                service, too
                """),
        Option(
            "test", \.isTest,
            help: """
                Serve a queue that ends with the service, for tests of other programs, and print a \
                line of JSON with its “url” and “token”
                """),
        Option(
            "answer", .word, \.end,
            help:
                "With --test, what each alert gets at once: yes, no, expire or never (the default)"
        ),
        Option(
            "stdio", \.servesOne,
            help: """
                Serve one client on standard input and output, as ssh://… has it done on the other \
                host, and end with it
                """),
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
        Programs in any language use HTTP on the socket api.sock beside it, as in curl --unix-socket \
        /run/alertq/api.sock http://localhost/v1/health, for which libmicrohttpd is needed; without it \
        that socket is missing, or unanswered if the service manager has made it, and the rest works. With --listen it is served on a port of this \
        machine as well. A client of that sends the token in the file api.token in the directory \
        (“Authorization: Bearer TOKEN”), and so counts as the account of the service.
        """,
        """
        --test makes a queue of its own, and listens at a free port unless --listen names one. With \
        --answer yes the first button that doesn't cancel is chosen, or the one whose id is yes, and \
        with no the cancel button; with expire, an alert that has a default button expires, and that is applied.
        """,
        """
        --database ssh://[USER@]HOST[:PORT][/PATH] runs alertq serve --stdio on another host, with \
        that account's rights there, and through that host's service, if one has the queue. Without \
        PATH it is that account's own queue. A queue that is given to serve --stdio is the only one \
        that its client gets: with command="alertq serve --stdio --database /srv/queue.db" a key in \
        authorized_keys is good for that queue alone, see sshd(8).
        """,
        """
        The sockets are this account's alone (mode 0600); those of the system queue are open to the group \
        alertq, too, as its file is. A file that is served can still be opened by \
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
    private var servesOne = false
    private var address: LoopbackSocket.Address?
    private var url: ServiceURL?
    private var isTest = false
    private var end: ScriptedEnds.End?

    func validate() throws {
        guard !servesOne || directory == nil && address == nil && url == nil && !isTest else {
            throw UsageError(
                "--stdio makes no sockets; leave out --sockets, --listen, --url and --test")
        }
        guard
            !isTest || directory == nil && url == nil && common.database == nil && !common.isSystem
        else {
            throw UsageError(
                "--test makes a queue of its own; leave out --sockets, --url and the queue")
        }
        guard isTest || end == nil else { throw UsageError("--answer is for --test") }
    }

    func run(in context: Context) async throws -> ExitCode {
        let signals = SignalWatch(stops: false, endsWithin: .seconds(10))
        if servesOne { return try await StdioService(of: queue, in: context).run(signals) }
        // Each client takes one descriptor, and each that waits another one.
        LinuxProcess.raiseDescriptorLimit()
        if isTest {
            let service = try await TestService(at: address ?? .anyPort, end ?? .never, in: context)
            return try await service.run(signals, in: context)
        }
        guard !queue.location.isService else {
            throw UsageError(
                "a service serves a file or a queue in PostgreSQL, not another service")
        }
        let url = try url ?? Self.urlOfEnvironment()
        let sockets = try makeSockets()
        let port = try address.map { try LoopbackSocket.listening(at: $0) }
        let token = try port.map { _ in try ServiceToken(named: Self.name, in: sockets.token) }
        let store = try await queue.store(via: Self.name) { context.note("\($0)") }
        let service = try QueueService(store, at: queue.place, on: sockets)
        try serveHTTP(service, on: sockets, at: url, in: context)
        context.inform("serving \(queue.place) at \(sockets.location)")
        if let port, let token {
            try service.serveHTTP(on: port.descriptor, knowing: .token(token), at: url)
            context.inform(
                "serving http://\(port.address.text) to clients with the token in \(token.place)")
        }
        ServiceManager.notify("READY=1\nSTATUS=serving \(queue.place)")
        let watchdog = Task { await Self.feedWatchdog(of: service) }
        for await _ in signals.events { break }
        watchdog.cancel()
        ServiceManager.notify("STOPPING=1")
        await service.stop()
        return .done
    }

    /// Serves HTTP on the socket for it, if this machine has the library.
    private func serveHTTP(
        _ service: QueueService, on sockets: ServiceSockets, at url: ServiceURL?,
        in context: Context
    ) throws(AlertError) {
        let listener = try sockets.listen(at: sockets.api)
        do throws(AlertError) {
            try service.serveHTTP(on: listener, knowing: .kernel, at: url)
        } catch {
            guard case .missingLibrary(let reason) = error, address == nil else { throw error }
            sockets.remove(sockets.api)
            context.note("\(sockets.api) is not served: \(reason)")
        }
    }

    private static func urlOfEnvironment() throws -> ServiceURL? {
        guard let text = LinuxProcess.environment("ALERTQ_URL") else { return nil }
        guard let url = ServiceURL(text) else {
            throw UsageError("$ALERTQ_URL: " + ServiceURL.refusal(of: text))
        }
        return url
    }

    private func makeSockets() throws -> ServiceSockets {
        let given = ServiceManager.takeSockets()
        let isSystem = queue.path == QueueLocation.systemPath
        guard
            let directory = directory.map(QueueChoice.absolute)
                ?? ServiceSockets.directory(of: queue)
        else {
            throw CommandError(
                .notFound,
                "$XDG_RUNTIME_DIR names no directory for the sockets; name one with --sockets")
        }
        // Who may write the queue's file may use its service.
        let group = isSystem ? UserAccounts.groupID(of: QueueLocation.systemGroup) : nil
        return try ServiceSockets(in: directory, given: given, group: group)
    }

    /// Tells the service manager that clients are served, for as long as they are.
    private static func feedWatchdog(of service: QueueService) async {
        guard let time = ServiceManager.watchdogTime else { return }
        while !Task.isCancelled {
            if await service.isServing(), !Task.isCancelled { ServiceManager.notify("WATCHDOG=1") }
            try? await Task.sleep(for: time / 3)
        }
    }
}

extension ServiceSockets {
    /// The directory in which a queue's service is, unless it was given another one.
    static func directory(of queue: QueueChoice) -> String? {
        queue.path == QueueLocation.systemPath ? systemDirectory : userDirectory
    }
}

extension QueueChoice {
    /// Where the queue is, for clients of its service.
    var place: String { QueueLocation(Self.absolute(path)).description }
}

extension Argument where Value == ServiceURL {
    /// The address of a service.
    fileprivate static var serviceURL: Argument {
        Argument("URL") { text throws(UsageError) in
            guard let url = ServiceURL(text) else {
                throw UsageError(ServiceURL.refusal(of: text))
            }
            return url
        }
    }
}

extension ServiceURL {
    fileprivate static func refusal(of text: String) -> String {
        "“\(text)” is not https://HOST[:PORT][/PATH]; only this machine's names may be http"
    }
}
