import Foundation
import Glibc
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// A server that is away for longer than a failover takes other verbs to give up.
@Suite("Servers that are away", .inParallel, .needsServer)
struct ServerOutageTests {
    private static let buttons = ["-b", "yes=Go", "--cancel", "no=Stay"]

    /// A server of the test's own, with a queue.
    private func serverQueue() async throws -> (PostgreSQLServer, CommandLineQueue) {
        let server = try await PostgreSQLServer(isSynced: true)
        let queue = try CommandLineQueue(at: server.uri)
        try #require(try await queue.run("doctor", "--setup-postgresql").code == 0)
        return (server, queue)
    }

    @Test("Commands that wait say so once, and go on when the server is back")
    func outage() async throws {
        let (server, queue) = try await serverQueue()
        let ask = ["ask", "Go?"] + Self.buttons
        let asker = try queue.start(ask)
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        let waiter = try queue.start(["wait", "1"])
        let watch = try queue.start(["watch", "--json", "--after", "0"])
        let hook = try queue.start(["watch", "--exec", "cat"])
        #expect(await eventually { watch.output.text.contains("asked") })
        // The asker's lease keeps the hook from the answer.
        #expect(
            await eventually(each: .milliseconds(100)) { leases(on: server) == [1, 2] })
        try await server.stop(SIGKILL)
        let late = try queue.start(["ask", "Late?"] + Self.buttons)
        let lateWaiter = try queue.start(["wait", "1", "--wait-for", "2m"])
        let impatient = try await queue.run("answer", "1", "yes")
        #expect(impatient.code == 75, "\(impatient)")
        // Longer than a lease lasts, and than other verbs wait.
        try await Task.sleep(for: .seconds(FaultForm.count(short: 15, full: 40)))
        let children = [asker, waiter, watch, hook, late, lateWaiter]
        for child in children {
            #expect(child.poll() == nil, "\(child.errors.text)")
            let said = child.errors.text.count(of: "the server of the queue")
            #expect(said == 1, "\(child.errors.text)")
        }
        try await server.start()
        #expect(
            await eventually { late.errors.text.contains("waiting for an answer") },
            "\(late.errors.text)")
        // They have their leases again, and so do those that have come in between.
        #expect(
            await eventually(each: .milliseconds(100)) { leases(on: server) == [2, 4] })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.run("answer", "2", "no").code == 0)
        for (child, code) in [(asker, 0), (waiter, 0), (lateWaiter, 0), (late, 10)] {
            let told = await child.finish()
            #expect(told.code == Int32(code), "\(told)")
            #expect(told.output == (code == 0 ? "yes\n" : "no\n"), "\(told)")
        }
        #expect(await eventually { watch.output.text.contains("resolved") })
        // Both answers had an asker.
        #expect(hook.output.text.isEmpty, "\(hook.output.text)")
        for child in [watch, hook] {
            child.kill(SIGTERM)
            _ = await child.exit()
        }
        #expect(try await queue.run("audit", "verify").code == 0)
    }

    /// How many leases on responses there are, and how many of calls that wait; without those that
    /// nobody renews.
    private func leases(on server: PostgreSQLServer) -> [Int64]? {
        try? Connection(server.uri).first(
            """
            SELECT count(*) FILTER (WHERE purpose = 'handling'),
                count(*) FILTER (WHERE purpose = 'waiting')
            FROM leases
            WHERE seen_ms > extract(epoch FROM clock_timestamp()) * 1000 - 5000
            """
        ) { [$0.integer(at: 0), $0.integer(at: 1)] }
    }

    @Test("wait --wait-for counts the time in which the server was away")
    func limit() async throws {
        let (server, queue) = try await serverQueue()
        #expect(try await queue.run("ask", "Go?", "-b", "yes", "--detach").code == 0)
        try await server.stop(SIGKILL)
        let start = ContinuousClock.now
        let waiter = try queue.start(["wait", "1", "--wait-for", "15s"])
        #expect(await eventually { waiter.errors.text.contains("waiting until it is back") })
        try await Task.sleep(until: start + .seconds(7))
        try await server.start()
        #expect(await waiter.finish().code == 15)
        #expect(!FaultForm.isFull || start.duration(to: .now) < .seconds(20))
    }

    @Test("A wait whose time is up ends although its server does not answer")
    func timeUp() async throws {
        let (server, queue) = try await serverQueue()
        #expect(try await queue.run("ask", "Go?", "-b", "yes", "--detach").code == 0)
        let start = ContinuousClock.now
        let waiter = try queue.start(["wait", "1", "--wait-for", "15s"])
        #expect(await eventually { waiter.errors.text.contains("waiting for an answer") })
        try await server.stop(SIGKILL)
        let end = await waiter.finish()
        // Whether the alert still waits is not known.
        #expect(end.code == 75 && end.output.isEmpty, "\(end)")
        #expect(!FaultForm.isFull || start.duration(to: .now) < .seconds(22))
    }

    @Test("A screen says that its server is away, and goes on when it is back")
    func screen() async throws {
        let (server, queue) = try await serverQueue()
        let terminal = try PseudoTerminal()
        let screen = try queue.start(["present"], on: terminal)
        #expect(await eventually { terminal.text.contains("showing alerts") })
        try await server.stop(SIGKILL)
        #expect(await eventually { terminal.text.contains("waiting until it is back") })
        try await server.start()
        #expect(try await queue.run("ask", "Go?", "-b", "yes", "--detach").code == 0)
        #expect(await eventually { terminal.text.contains("Enter chooses") })
        screen.kill(SIGINT)
        _ = await screen.exit()
    }

    @Test("An interrupted asker does not wait for a server that is away")
    func interrupted() async throws {
        let (server, queue) = try await serverQueue()
        let asker = try queue.start(["ask", "Go?"] + Self.buttons)
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        try await server.stop(SIGKILL)
        #expect(await eventually { asker.errors.text.contains("waiting until it is back") })
        let start = ContinuousClock.now
        asker.kill(SIGINT)
        let told = await asker.finish()
        #expect(told.errors.contains("could not be withdrawn"), "\(told)")
        #expect(!FaultForm.isFull || start.duration(to: .now) < .seconds(5))
    }
}

extension String {
    fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
