import AlertAgents
import AlertQueue
import Glibc
import TextFormats

/// `alertq mcp`: lets agents ask, as a server of the Model Context Protocol on stdin and stdout.
struct MCPCommand: Command {
    static let name = AgentServer.name
    static let abstract = "Let an agent ask, as a server of the Model Context Protocol"
    static let options: [Option<Self>] = [
        Option(
            "source", .source, \.source,
            help: "The asker's name (default: “mcp:” and the name of the client, or of its program "
                + "where a library named the client)"),
        Option(
            "wait", .duration.requiring(orElse: "is more than an hour") { $0 <= .seconds(3600) },
            \.$wait, help: "How long a call waits for an answer before it returns, at most an hour",
            default: LengthText.text),
    ]
    static let discussion = [
        """
        A client, such as a coding agent, starts this command and writes one JSON-RPC message a \
        line to its stdin; stdout carries nothing but replies. It speaks the revisions \
        \(AgentServer.revisions.joined(separator: ", ")) of the protocol.
        """,
        """
        The tools are \(AgentServer.tools.joined(separator: ", ")). No tool answers. An \
        alert is stored before a call waits for its answer, and stays when the call, the client or \
        this process ends: the same call finds it again. The server withdraws an alert only if the \
        client calls withdraw, cancels its task, or cancels the last call of this server that \
        waits for it with a reason that is known to be a person's; a client's time limit withdraws \
        nothing. An agent can collect, withdraw and list only what its own source and account have \
        asked.
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
        let agents = AgentContext(context, via: Self.name, signals, queue)
        let server = AgentServer(agents, source: source, wait: wait, version: Program.version)
        switch await server.run() {
        case .input(nil), .signal(SIGTERM): return .done
        case .input(let code?):
            let reason = String(cString: strerror(code))
            throw CommandError(.inputOutput, "can't read stdin: \(reason)")
        case .signal(let signal): throw Interruption(signal: signal)
        }
    }
}
