import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// SIGKILL of `alertq mcp` at every call that changes the disk or writes to the client: a question
/// is asked once, and its answer is delivered to a client that has read it, or to the next one.
@Suite("Killed servers of agents", .inParallel, .enabled(if: Tool.hasTracer, "needs strace"))
struct AgentKillTests {
    private static let question = ["title": "Deploy?"]

    /// Asks through a server that runs under a command; returns the reply unless it was killed.
    @discardableResult
    private func ask(
        in queue: CommandLineQueue, under wrapper: [String] = []
    ) async throws -> AgentReply? {
        let agent = try await AgentClient(queue, options: ["--wait", "50ms"], under: wrapper)
        let call = agent.start("ask", Self.question)
        // It collects what it has written, and ends.
        agent.close()
        _ = await agent.server.exit()
        return agent.messages.first { $0.id == call }
    }

    /// Kills a server at each of its calls, one after another.
    private func killAtEachCall(
        from start: CommandLineQueue,
        _ check: @escaping @Sendable (CommandLineQueue, AgentReply?, String) async throws -> Void
    ) async throws {
        let queue = try CommandLineQueue(copyOf: start.directory)
        let calls = try await FaultPoint.calls(FaultPoint.changes, in: queue) { wrapper in
            let reply = try await self.ask(in: queue, under: wrapper)
            #expect(reply != nil)
        }
        // Writing to the client is a call on no file of the queue.
        let points = calls.points + [FaultPoint(call: "write", name: nil)]
        try await each(of: points, lanes: 2) { point in
            for number in 1...200 {
                let queue = try CommandLineQueue(copyOf: start.directory)
                let log = queue.directory + ".strace"
                defer { unlink(log) }
                let reply = try await self.ask(
                    in: queue, under: point.wrapper(.kill, at: number, in: queue, log: log))
                guard FaultPoint.wasHit(log: log) else {
                    #expect(number > 1, "\(point) was never hit")
                    return
                }
                try await check(
                    queue, reply, "\(point.call) \(number) of \(point.name ?? "any file")")
                #expect(try await queue.isSound())
            }
            Issue.record("it never ended by itself at \(point)")
        }
    }

    @Test("A server that is killed at any call asks its question once")
    func asking() async throws {
        let empty = try CommandLineQueue()
        #expect(try await empty.run("ask", "Other?", "--detach").code == 0)
        try await killAtEachCall(from: empty) { queue, _, moment in
            let again = try await ask(in: queue)
            #expect(again?.alert == 2 && again?.state == "waiting", "\(moment)")
            #expect(try await queue.run("list", "--count").output == "2\n", "\(moment)")
        }
    }

    @Test("A server that is killed at any call loses no answer, and delivers none twice")
    func collecting() async throws {
        let answered = try CommandLineQueue()
        #expect(try await ask(in: answered)?.state == "waiting")
        #expect(try await answered.run("answer", "1", "yes").code == 0)
        try await killAtEachCall(from: answered) { queue, reply, moment in
            let shown = try await queue.objects("show", "1").first
            let isCollected = shown?["collected_at"] is String
            if let reply {
                #expect(reply.alert == 1 && reply.button == "yes", "\(moment)")
            } else {
                #expect(!isCollected, "\(moment)")
            }
            // A collected answer is used up: the same words are a new question.
            let next = try await ask(in: queue)
            #expect(next?.alert == (isCollected ? 2 : 1), "\(moment)")
            #expect(next?.button == (isCollected ? nil : "yes"), "\(moment)")
        }
    }
}
