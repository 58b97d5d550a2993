import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// `Tests/Examples/RestartDaemon`, killed at the worst moments.
@Suite("Example: a daemon with a named handler", .inParallel)
struct DaemonExampleTests {
    let queue: CommandLineQueue

    init() throws {
        queue = try CommandLineQueue()
        // The program that restarts the service records its arguments, and waits until it may end.
        let program = """
            #!/bin/sh
            echo "$PPID" >>"\(queue.directory)/parents"
            echo "$*" >>"\(queue.directory)/restarts"
            until [ -e "\(queue.directory)/go" ]; do sleep 0.01; done
            """
        try program.write(toFile: queue.directory + "/restart", atomically: true, encoding: .utf8)
        chmod(queue.directory + "/restart", 0o755)
    }

    @Test("An answer that comes while no daemon runs is handled by the next, at least once")
    func killedAndRestarted() async throws {
        let first = try start("1.26")
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        first.kill(SIGKILL)
        #expect(await first.exit() == 128 + SIGKILL)
        #expect(try await queue.runInTerminal("answer", "1", "restart").code == 0)
        #expect(restarts == [])

        let second = try start("1.26")
        #expect(await eventually { restarts == ["nginx 1"] })
        second.kill(SIGKILL)
        #expect(await second.exit() == 128 + SIGKILL)
        #expect(try await isCollected(1) == false, "The handler had not returned")

        let third = try start("1.26")
        #expect(await eventually { restarts == ["nginx 1", "nginx 1"] })
        try allowEnd()
        #expect(try await eventually { try await isCollected(1) == true })
        third.kill(SIGTERM)
        #expect(await third.exit() == 0)

        // Nothing is left for a fourth, which asks about another version.
        let fourth = try start("1.27")
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await queue.run("answer", "2", "no").code == 0)
        #expect(try await eventually { try await isCollected(2) == true })
        fourth.kill(SIGTERM)
        #expect(await fourth.exit() == 0)
        #expect(restarts == ["nginx 1", "nginx 1"])
        #expect(try await queue.isSound())
    }

    @Test("A program's yes restarts nothing, and is collected")
    func program() async throws {
        let daemon = try start("1.26")
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await queue.run("answer", "1", "restart").code == 0)
        #expect(try await eventually { try await isCollected(1) == true })
        daemon.kill(SIGTERM)
        #expect(await daemon.exit() == 0)
        #expect(restarts == [])
    }

    @Test("A handler that fails says so, and is tried again")
    func failure() async throws {
        try FileManager.default.removeItem(atPath: queue.directory + "/restart")
        let first = try start("1.26")
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await queue.runInTerminal("answer", "1", "restart").code == 0)
        #expect(await eventually { !first.errors.text.isEmpty })
        first.kill(SIGTERM)
        #expect(await first.exit() == 0)
        #expect(try await isCollected(1) == false)
        try FileManager.default.createSymbolicLink(
            atPath: queue.directory + "/restart", withDestinationPath: "/bin/true")
        let second = try start("1.26")
        #expect(try await eventually { try await isCollected(1) == true })
        second.kill(SIGTERM)
        #expect(await second.exit() == 0)
    }

    @Test("When a daemon dies in the middle of its handler, another running one takes over")
    func takenOver() async throws {
        let daemons = [try start("1.26"), try start("1.26")]
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await queue.runInTerminal("answer", "1", "restart").code == 0)
        #expect(await eventually { parents.count == 1 })
        let first = try #require(daemons.first { $0.pid == parents.first })
        let second = try #require(daemons.first { $0.pid != first.pid })
        first.kill(SIGKILL)
        #expect(await first.exit() == 128 + SIGKILL)
        #expect(await eventually { parents == [first.pid, second.pid] })
        try allowEnd()
        #expect(try await eventually { try await isCollected(1) == true })
        #expect(restarts == ["nginx 1", "nginx 1"])
        second.kill(SIGTERM)
        #expect(await second.exit() == 0)
    }

    private func start(_ version: String) throws -> Child {
        try Child(
            BuiltProgram.path("RestartDaemon"),
            ["nginx", version, queue.directory + "/restart"],
            environment: ["ALERTQ_DATABASE": queue.path])
    }

    private var restarts: [Substring] {
        let text = try? String(contentsOfFile: queue.directory + "/restarts", encoding: .utf8)
        return text?.split(separator: "\n") ?? []
    }

    /// The daemons that have begun a restart.
    private var parents: [pid_t] {
        let text = try? String(contentsOfFile: queue.directory + "/parents", encoding: .utf8)
        return text?.split(separator: "\n").compactMap { pid_t($0) } ?? []
    }

    /// Lets every waiting program end, including those whose daemon was killed.
    private func allowEnd() throws {
        try "".write(toFile: queue.directory + "/go", atomically: true, encoding: .utf8)
    }

    private func isCollected(_ id: Int) async throws -> Bool? {
        let alert = try await queue.objects("show", "\(id)").first
        return alert.map { $0["collected_at"] is String }
    }
}
