import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// A queue that is used over `ssh://`, with a real sshd(8) on loopback.
@Suite("A queue on another host", .inParallel, .needsSSH, .within(.seconds(180)))
struct RemoteTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// A server that runs `serve --stdio`.
    private func server(_ words: String = "", variables: String = "") async throws -> SSHServer {
        try await SSHServer(
            running: "env HOME=\(queue.directory) ALERTQ_DATABASE= \(variables) "
                + "\(CommandLineQueue.program) serve --stdio \(words)")
    }

    private func client(of server: SSHServer, _ path: String = "") throws -> CommandLineQueue {
        try CommandLineQueue(at: server.location + path, over: server)
    }

    @Test("An asker elsewhere gets the answer, and the log says what sshd knows of it")
    func bothSides() async throws {
        let remote = try client(of: try await server(), queue.path)
        let asker = try remote.start(["ask", "Prune?", "-b", "yes", "--cancel", "no"])
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let finished = await asker.finish()
        #expect(finished.code == 0 && finished.output == "yes\n", "\(finished)")
        #expect(try await remote.run("ask", "Again?", "-b", "yes", "--detach").output == "2\n")
        // A client's own word for it counts for nothing.
        let answerer = try remote.start(
            ["answer", "2", "yes"], environment: ["SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"])
        #expect(await answerer.finish().code == 0)
        let record = try await queue.objects("show", "2")[0]
        let responder = record["responder"] as? [String: any Sendable]
        #expect(responder?["ssh"] as? String == "127.0.0.1", "\(record)")
        #expect(responder?["uid"] as? Int == Int(getuid()))
        #expect(try await queue.isSound())
    }

    @Test("A connection that breaks is made again, and a host that is away is waited for")
    func broken() async throws {
        let first = try await server("--database \(queue.path)")
        let second = try await server("--database \(queue.path)")
        let remote = try CommandLineQueue(
            at: "ssh://\(first.host),\(second.host)\(queue.path)", over: first)
        let asker = try remote.start(
            ["ask", "Q", "-b", "yes", "--key", "k"],
            environment: ["PATH": "\(try programs(of: [first, second])):/usr/bin:/bin"])
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        first.endAll()
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let finished = await asker.finish()
        #expect(finished.code == 0 && finished.output == "yes\n", "\(finished)")
        let late = try client(of: first).start(["list"])
        #expect(await eventually { late.errors.text.contains("; waiting until it is back") })
        #expect(late.errors.text.contains("Connection refused"), "\(late.errors.text)")
        late.kill(SIGTERM)
        #expect(await late.exit() == 143)
    }

    /// The directory of an `ssh` that has the keys of several servers.
    private func programs(of servers: [SSHServer]) throws -> String {
        let hosts = servers.map { server in
            "*' -p \(server.port) '*) exec '\(server.programs)/ssh' \"$@\" ;;"
        }
        try FileManager.default.createDirectory(
            atPath: queue.directory + "/bin", withIntermediateDirectories: true)
        _ = try queue.script(
            "bin/ssh", "case \"$*\" in\n\(hosts.joined(separator: "\n"))\nesac")
        return queue.directory + "/bin"
    }

    @Test("What doesn't help by trying again is refused at once, with the reason")
    func refused() async throws {
        let server = try await server("--database \(queue.path)")
        let other = try CommandLineQueue()
        let wrong = try await client(of: server, other.path).run("ask", "Q", "--detach")
        #expect(wrong.code == 77 && wrong.errors.contains("serves \(queue.path)"), "\(wrong)")
        // So it is with a queue that sshd's environment names.
        let named = try await SSHServer(
            running: "env ALERTQ_DATABASE=\(queue.path) \(CommandLineQueue.program) serve --stdio")
        #expect(try await client(of: named, other.path).run("list").code == 77)
        #expect(access(other.path, F_OK) != 0)
        // Another key.
        let stranger = try await SSHServer(running: "true")
        let unknown = try client(of: server)
        let denied = try await unknown.start(
            ["list"], environment: ["PATH": "\(stranger.programs):/usr/bin:/bin"]
        ).finish()
        #expect(denied.code == 77 && denied.errors.contains("verification failed"), "\(denied)")
        let missing = try await SSHServer(running: "no-such-command")
        let finished = try await client(of: missing).run("list")
        #expect(finished.code == 66 && finished.errors.contains("not found"), "\(finished)")
        let old = try await SSHServer(running: "echo 'alertq: unknown option' >&2; exit 64")
        let refused = try await client(of: old).run("list")
        #expect(refused.code == 74 && refused.errors.contains("unknown option"), "\(refused)")
        let silent = try await SSHServer(running: "echo hello")
        let chatter = try await client(of: silent).run("list")
        #expect(chatter.code == 74 && chatter.errors.contains("no service"), "\(chatter)")
        let nothing = try CommandLineQueue(at: server.location)
        let noSSH = try await nothing.start(["list"], environment: ["PATH": "/nonexistent"])
            .finish()
        #expect(noSSH.code == 66 && noSSH.errors.contains("openssh-client"), "\(noSSH)")
    }

    @Test(
        "A host that ssh would take for an option is none",
        arguments: [
            "ssh://", "ssh:///queue.db", "ssh://-oProxyCommand=true/q", "ssh://-l@host/q",
            "ssh://a@-b/q", "ssh://a b/q", "ssh://a,,b/q", "ssh://a@b@c/q", "ssh://$(id)/q",
            "ssh://a;b/q", "ssh://%60id%60@h/q", "ssh://h:abc/q", "ssh://h:99999/q", "ssh://h:0/q",
            "ssh://[::1/q", "ssh://é/q",
        ])
    func badHosts(location: String) async throws {
        let finished = try await CommandLineQueue(at: location).run("list")
        #expect(finished.code == 65 && finished.errors.contains("names no host"), "\(finished)")
    }

    @Test("A client gets the service that has the queue already, or its own one")
    func relayed() async throws {
        let runtime = queue.directory + "/run"
        let service = try queue.start(
            ["serve"], environment: ["XDG_RUNTIME_DIR": runtime])
        #expect(await eventually { service.errors.text.contains("serving ") })
        let server = try await server(variables: "XDG_RUNTIME_DIR=\(runtime)")
        let remote = try client(of: server, queue.path)
        let asker = try remote.start(["ask", "Q", "-b", "yes"])
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        #expect(Self.users(of: queue.path) == [service.pid])
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await asker.finish().output == "yes\n")
        // The log has what sshd says there, too.
        #expect(try await remote.run("ask", "Again?", "-b", "yes", "--detach").code == 0)
        let answerer = try remote.start(
            ["answer", "2", "yes"], environment: ["SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"])
        #expect(await answerer.finish().code == 0)
        let responder = try await queue.objects("show", "2")[0]["responder"]
        #expect((responder as? [String: any Sendable])?["ssh"] as? String == "127.0.0.1")
        // A key for one queue gets no other one, even if its account's service has that.
        let restricted = try await self.server(
            "--database \(queue.directory)/restricted.db", variables: "XDG_RUNTIME_DIR=\(runtime)")
        #expect(try await client(of: restricted, queue.path).run("list").code == 77)
        // The service has another queue than this one.
        let other = try CommandLineQueue()
        let own = try client(of: server, other.path)
        #expect(try await own.run("ask", "Q", "--detach").output == "1\n")
        #expect(try await other.run("list", "--count").output == "1\n")
        let named = try await self.server("--database unix:\(runtime)/alertq/alertq.sock")
        #expect(try await client(of: named).run("history", "--json").output.contains("\"id\":1,"))
        let wrong = try await client(of: named, other.path).run("list")
        #expect(wrong.code == 77, "\(wrong)")
    }

    /// The processes that have a file open.
    private static func users(of path: String) -> Set<pid_t> {
        let pids = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return Set(
            pids.compactMap { pid_t($0) }.filter { pid in
                let folder = "/proc/\(pid)/fd"
                let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                return files.contains { LinuxFile.link("\(folder)/\($0)") == path }
            })
    }

    @Test("A queue that is only read is not made, and the account's own one needs no path")
    func own() async throws {
        let server = try await server()
        let missing = queue.directory + "/none.db"
        let finished = try await client(of: server, missing).run("list")
        #expect(finished.code == 66 && finished.errors.contains(missing), "\(finished)")
        #expect(access(missing, F_OK) != 0)
        guard getuid() != 0 else { return }
        let remote = try client(of: server)
        #expect(try await remote.run("ask", "Q", "--detach").output == "1\n")
        #expect(access(queue.directory + "/.local/state/alertq/queue.db", F_OK) == 0)
    }

    @Test("A screen elsewhere does not count itself among the others")
    func screens() async throws {
        let remote = try client(of: try await server(), queue.path)
        let terminal = try PseudoTerminal(columns: 200)
        let screen = try remote.start(["present"], on: terminal)
        #expect(await eventually { terminal.text.contains("showing alerts") })
        #expect(!terminal.text.contains("also shown"), "\(terminal.text)")
        screen.kill(SIGTERM)
        _ = await screen.exit()
    }

    @Test("A backup and a file that can only be read are read there, too")
    func reading() async throws {
        #expect(try await queue.run("ask", "Q", "--detach").code == 0)
        let copy = queue.directory + "/copy.db"
        #expect(try await queue.run("backup", copy).code == 0)
        let remote = try client(of: try await server(), copy)
        #expect(try await remote.run("list", "--count").output == "1\n")
        #expect(try await remote.run("ask", "Q", "--detach").code == 65)
    }

    @Test("Lines on standard input that are no requests get a reply, and no queue is made")
    func badLines() async throws {
        let database = queue.directory + "/none.db"
        let long = String(repeating: "x", count: 1 << 21)
        for (line, status) in [("hello\n", 400), ("{}\n", 400), ("\n\n[]\n", 400), (long, 413)] {
            let input = try Descriptor.holding(line.utf8, name: "input")
            let child = try Child(
                CommandLineQueue.program, ["serve", "--stdio", "--database", database],
                input: input.raw)
            let finished = await child.finish()
            #expect(finished.code == 65, "\(line.prefix(9)): \(finished)")
            #expect(finished.output.contains("\"status\":\(status)"), "\(finished)")
            #expect(access(database, F_OK) != 0)
        }
        let empty = try Child(CommandLineQueue.program, ["serve", "--stdio"])
        #expect(await empty.exit() == 0)
    }

    @Test("A signal ends it once what has come is done, and its replies are written")
    func signalled() async throws {
        let pipe = try Pipe(waits: true)
        let child = try Child(
            CommandLineQueue.program, ["serve", "--stdio", "--database", queue.path],
            input: pipe.reading.raw)
        let lines = (1...50).map {
            #"{"id":\#($0),"method":"POST","path":"/v1/alerts","body":{"title":"Q","key":"\#($0)"}}"#
        }
        #expect(pipe.writing.write((lines.joined(separator: "\n") + "\n").utf8))
        #expect(await eventually { child.output.text.contains("\"status\":201") })
        child.kill(SIGTERM)
        #expect(await child.exit() == 0)
        let replies = await child.output.complete().split(separator: "\n")
        let stored = try await queue.run("list", "--count").output
        #expect("\(replies.count)\n" == stored)
    }

    @Test("A name that was typed is no account of the other host")
    func names() async throws {
        let remote = try client(of: try await server(), queue.path)
        #expect(try await remote.run("ask", "Q", "--detach").code == 0)
        let named = try await remote.run("history", "--asked-by", "nobody")
        #expect(named.code == 64 && named.errors.contains("not known here"), "\(named)")
        #expect(try await remote.run("history", "--asked-by", "\(getuid())").code == 0)
        // Nor is one that is shown.
        #expect(try await remote.run("show", "1").output.contains("uid \(getuid())"))
    }
}
