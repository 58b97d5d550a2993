import AlertQueue
import Glibc

/// `alertq mcp`: lets agents ask, as a server of the Model Context Protocol on stdin and stdout.
package struct AgentServer: Sendable {
    /// What the server is called in the log, and what sources and keys begin with.
    package static let name = "mcp"
    /// The revisions of the protocol that it speaks, the newest first.
    package static var revisions: [String] { Revision.allCases.map(\.rawValue) }
    /// The names of its tools.
    package static var tools: [String] { AgentTools.all.map(\.name) }

    /// Why it has ended.
    package enum End: Sendable {
        /// Its input has ended, or could not be read for a reason; see errno(3).
        case input(Int32?)
        case signal(Int32)
    }

    private let context: AgentContext
    private let host: AgentToolHost
    private let server: ModelContextServer

    /// - Parameters:
    ///   - source: The asker's name instead of the clients' names.
    ///   - wait: How long a call waits for an answer before it returns.
    ///   - version: The version of the command.
    package init(_ context: AgentContext, source: String?, wait: Duration, version: String) {
        self.context = context
        host = AgentToolHost(context, source: source, wait: wait)
        server = ModelContextServer(
            host: host,
            identity: ServerIdentity(
                name: "alertq", version: version, instructions: AgentTools.instructions),
            writer: LineWriter(write: context.write), note: context.note)
    }

    /// Serves until its input ends or a signal comes; calls that wait return that they still wait.
    package func run() async -> End {
        let end = await firstEnd()
        await server.end()
        await host.close()
        return end
    }

    private func firstEnd() async -> End {
        let (ends, continuation) = AsyncStream.makeStream(of: End.self)
        LineInput(descriptor: STDIN_FILENO).read(
            { line in server.receive(line) }, whenDone: { continuation.yield(.input($0)) })
        let listening = Task {
            for await signal in context.endings() { continuation.yield(.signal(signal)) }
        }
        defer { listening.cancel() }
        for await end in ends { return end }
        return .input(nil)
    }
}
