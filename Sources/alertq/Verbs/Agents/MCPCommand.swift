import AlertQueue
import Glibc

/// `alertq mcp`: lets agents ask, as a server of the Model Context Protocol on stdin and stdout.
struct MCPCommand: Command {
    static let name = "mcp"
    static let abstract = "Let an agent ask, as a server of the Model Context Protocol"
    static let options: [Option<Self>] = [
        Option(
            "source", .source, \.source,
            help: "The asker's name (default: “mcp:” and the name of the client)"),
        Option(
            "wait", .duration.requiring(orElse: "is more than an hour") { $0 <= .seconds(3600) },
            \.$wait, help: "How long a call waits for an answer before it returns, at most an hour",
            default: LengthText.text),
    ]
    static let discussion = [
        """
        A client, such as a coding agent, starts this command and writes one JSON-RPC message a \
        line to its stdin; stdout carries nothing but replies. It speaks the revisions \
        \(Revision.allCases.map(\.rawValue).joined(separator: ", ")) of the protocol.
        """,
        """
        The tools are \(AgentTools.all.map(\.name).joined(separator: ", ")). No tool answers. An \
        alert is stored before a call waits for its answer, and stays when the call, the client or \
        this process ends: the same call finds it again. The server withdraws an alert only if the \
        client calls withdraw, cancels its task, or cancels the last call of this server that \
        waits for it, and not because of a timeout. An agent can collect, withdraw and list only \
        what its own source and account have asked.
        """,
        """
        When stdin ends, or upon SIGTERM, calls that wait return that they still wait, and the \
        exit code is 0.
        """,
    ]

    var common = AgentOptions()
    private var source: String?
    @Defaulted private var wait = Duration.seconds(45)

    func validate() throws {
        if let source { try UsageError.check(source, "source", of: "--source") }
    }

    func run(in context: Context) async throws -> ExitCode {
        // A client that does not read must not keep this process from ending.
        let signals = SignalWatch(stops: false, endsWithin: .seconds(2))
        if isatty(STDIN_FILENO) == 1 {
            context.note("reading JSON-RPC messages from this terminal; Ctrl-D ends")
        }
        let host = AgentToolHost(queue: queue, source: source, wait: wait, context: context)
        let server = ModelContextServer(
            host: host,
            identity: ServerIdentity(
                name: "alertq", version: Program.version, instructions: AgentTools.instructions),
            writer: LineWriter(context.output), note: { context.note("\(Self.name): \($0)") })
        let input = LineInput(descriptor: STDIN_FILENO)
        let end = await firstEnd(input, server, signals)
        await server.end()
        await host.close()
        switch end {
        case .input(nil), .signal(SIGTERM): return .done
        case .input(let code?):
            let reason = String(cString: strerror(code))
            throw CommandError(.inputOutput, "can't read stdin: \(reason)")
        case .signal(let signal): throw Interruption(signal: signal)
        }
    }

    private enum End: Sendable {
        /// Its end, or the number of an error.
        case input(Int32?)
        case signal(Int32)
    }

    /// Serves until nothing more comes, or a signal does.
    private func firstEnd(
        _ input: LineInput, _ server: ModelContextServer, _ signals: SignalWatch
    ) async -> End {
        let (ends, continuation) = AsyncStream.makeStream(of: End.self)
        input.read(
            { line in server.receive(line) }, whenDone: { continuation.yield(.input($0)) })
        let listening = Task {
            for await signal in signals.events { continuation.yield(.signal(signal)) }
        }
        defer { listening.cancel() }
        for await end in ends { return end }
        return .input(nil)
    }
}
