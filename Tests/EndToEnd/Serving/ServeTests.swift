import CLinux
import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// A queue that `alertq serve` serves on a socket.
@Suite("A queue behind a service", .inParallel, .within(.seconds(120)))
struct ServeTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("An asker and a person on both sides of the service use one queue")
    func bothSides() async throws {
        let served = try await queue.served()
        let asker = try served.start(["ask", "Prune?", "-b", "yes", "--cancel", "no"])
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let finished = await asker.finish()
        #expect(finished.code == 0 && finished.output == "yes\n", "\(finished)")
        let direct = try queue.start(["ask", "Again?", "-b", "yes"])
        #expect(await eventually { direct.errors.text.contains("waiting for an answer") })
        #expect(try await served.run("answer", "2", "yes").code == 0)
        #expect(await direct.finish().output == "yes\n")
        #expect(try await queue.isSound())
    }

    @Test("The log has the account and the process that the kernel names, whatever a client says")
    func kernel() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        // Until there are rights, whoever may open the socket has those of its owner.
        for path in [queue.directory, service.directory] { chmod(path, 0o755) }
        chmod(service.socket, 0o666)
        let served = try CommandLineQueue(behind: service)
        let other = LinuxAccount(uid: 4242, gid: 4242)
        let asker = try served.start(["ask", "Q", "--detach", "--key", "k"], as: other)
        #expect(await asker.finish().code == 0)
        let socket = try UnixSocket.connect(to: service.socket)
        let process = #"{"host":"elsewhere","pid":1}"#
        let caller =
            #"{"principal":{"principal":"7777","user":"boss"},"via":"answer","#
            + #""means":{"process":{"_0":\#(process)}}}"#
        let lines = [
            #"{"id":1,"method":"POST","path":"/store/open","body":{"version":"alq3-2"}}"#,
            #"{"id":2,"method":"POST","path":"/store","body":{"commit":{"_0":[{"resolve":{"_0":1,"#
                + #""_1":{"choose":{"button":0,"_1":{"program":{}},"_2":{"values":{}}}}}}],"#
                + #""request":"00112233445566778899aabbccddeeff","by":\#(caller)}}}"#,
        ]
        #expect(socket.write((lines.joined(separator: "\n") + "\n").utf8))
        #expect(await eventually { Self.replies(of: socket, 2) })
        let record = try await queue.objects("show", "1")[0]
        #expect(record["uid"] as? Int == 4242, "\(record)")
        let responder = record["responder"] as? [String: any Sendable]
        #expect(responder?["uid"] as? Int == Int(getuid()), "\(record)")
        #expect(responder?["pid"] as? Int == Int(getpid()), "\(record)")
    }

    @Test(
        "What a client says of itself makes it nobody else",
        arguments: [false, true])
    func told(isOnStandardInput: Bool) async throws {
        let process = #"{"host":"elsewhere","pid":1}"#
        let told =
            #"{"principal":{"principal":"7777","user":"boss"},"via":"x","ssh":"192.0.2.9","#
            + #""means":{"process":{"_0":\#(process)}}}"#
        let button = #"{"title":"Q","buttons":[{"id":"yes","title":"Yes"}]}"#
        let lines = [
            #"{"id":1,"method":"POST","path":"/store/open","body":{"version":"alq3-2","#
                + #""told":\#(told)}}"#,
            #"{"id":2,"method":"POST","path":"/v1/alerts","body":\#(button)}"#,
        ]
        let input = (lines.joined(separator: "\n") + "\n").utf8
        if isOnStandardInput {
            let file = try Descriptor.holding(input, name: "input")
            let child = try Child(
                CommandLineQueue.program, ["serve", "--stdio", "--database", queue.path],
                environment: ["SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"], input: file.raw)
            #expect(await child.finish().output.contains("\"status\":201"))
        } else {
            let service = try await CommandLineQueue.Service(of: queue)
            let socket = try UnixSocket.connect(to: service.socket)
            #expect(socket.write(input))
            #expect(await eventually { Self.replies(of: socket, 2) })
        }
        let record = try await queue.objects("show", "1")[0]
        #expect(record["uid"] as? Int == Int(getuid()), "\(record)")
        #expect(record["pid"] as? Int != 1 && record["host"] as? String != "elsewhere")
        let entry = try await queue.objects("audit", "list")[0]["responder"]
        let responder = entry as? [String: any Sendable]
        #expect(responder?["uid"] as? Int == Int(getuid()), "\(String(describing: entry))")
        // What a relay says stands for a socket's client; of its own input a process knows better.
        #expect(responder?["ssh"] as? String == (isOnStandardInput ? "192.0.2.1" : "192.0.2.9"))
    }

    /// Whether a service has sent as many replies, of which the last has no error.
    private static func replies(of socket: Descriptor, _ count: Int) -> Bool {
        var text = ""
        while text.split(separator: "\n").count < count, let bytes = socket.read(), !bytes.isEmpty {
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text.hasSuffix("\n") && !text.contains("\"error\"")
    }

    @Test("Askers and a screen go on when the service is killed and started again")
    func killed() async throws {
        var service = try await CommandLineQueue.Service(of: queue)
        let served = try CommandLineQueue(at: service.location)
        let presenter = try served.script("presenter", "read -r line; sleep 0.3; echo yes")
        let screen = try served.start(["present", "--on", "command:\(presenter)"])
        var askers: [Child] = []
        for number in 1...6 {
            askers.append(
                try served.start(["ask", "Q\(number)", "-b", "yes", "--key", "k\(number)"]))
            if number % 2 == 0 {
                service.process.kill(SIGKILL)
                _ = await service.process.exit()
                service = try await CommandLineQueue.Service(of: queue)
            }
        }
        for asker in askers {
            let finished = await asker.finish()
            #expect(finished.code == 0 && finished.output == "yes\n", "\(finished)")
        }
        screen.kill(SIGTERM)
        _ = await screen.exit()
        let resolved = try await queue.objects("audit", "list").count {
            $0["event"] as? String == "resolved"
        }
        #expect(resolved == 6)
        #expect(try await queue.isSound())
    }

    @Test("A verb that finds its service away says so, and goes on when it is there")
    func away() async throws {
        let served = try CommandLineQueue(at: "unix:\(queue.directory)/sockets/alertq.sock")
        let asker = try served.start(["ask", "Q", "--detach"])
        #expect(await eventually { asker.errors.text.contains("; waiting until it is back") })
        let service = try await CommandLineQueue.Service(of: queue)
        let finished = await asker.finish()
        #expect(finished.code == 0 && finished.output == "1\n", "\(finished)")
        _ = service
    }

    @Test("A second service of a directory says which process has it")
    func second() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let finished = try await queue.run("serve", "--sockets", service.directory)
        #expect(finished.code == 75, "\(finished)")
        #expect(finished.errors.contains("process \(service.process.pid) already serves"))
    }

    @Test("SIGTERM ends a service, and removes its socket")
    func end() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let served = try CommandLineQueue(at: service.location)
        let asker = try served.start(["ask", "Q", "-b", "yes"])
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        service.process.kill(SIGTERM)
        #expect(await service.process.exit() == 0)
        #expect(access(service.socket, F_OK) != 0)
        #expect(try await queue.run("list", "--count").output == "1\n")
        let next = try await CommandLineQueue.Service(of: queue)
        #expect(try await served.run("answer", "1", "yes").code == 0)
        #expect(await asker.finish().output == "yes\n")
        _ = next
    }

    /// The socket of a service manager; see sd_notify(3).
    private func manager(at name: String) throws -> Descriptor {
        let manager = try Descriptor(
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0), "make a socket")
        #expect(clinux_bind_datagram(manager.raw, name) == 0)
        _ = fcntl(manager.raw, F_SETFL, O_NONBLOCK)
        return manager
    }

    /// What has come since the last time.
    private static func states(heardBy manager: Descriptor) -> [String] {
        var states: [String] = []
        while let bytes = manager.read() { states.append(String(decoding: bytes, as: UTF8.self)) }
        return states
    }

    @Test(
        "A service manager hears when the service is ready, that it lives, and that it stops",
        arguments: [false, true])
    func notifications(isAbstract: Bool) async throws {
        let path = queue.directory + "/notify"
        let name = isAbstract ? "@" + path : path
        let manager = try manager(at: name)
        let service = try queue.start(
            ["serve", "--sockets", queue.directory + "/sockets"],
            environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "300000"])
        var states: [String] = []
        func hear() -> [String] {
            states += Self.states(heardBy: manager)
            return states
        }
        #expect(await eventually { hear().count { $0 == "WATCHDOG=1" } >= 2 })
        #expect(states.first == "READY=1\nSTATUS=serving \(queue.path)")
        service.kill(SIGTERM)
        #expect(await service.exit() == 0)
        #expect(hear().last == "STOPPING=1")
    }

    @Test(
        "A service manager hears nothing while the thread of HTTP is stuck",
        .enabled(if: Tool.hasTracer && Tool.hasHTTP))
    func stuck() async throws {
        let path = queue.directory + "/notify"
        let manager = try manager(at: path)
        func hears() -> Bool { !Self.states(heardBy: manager).isEmpty }
        let service = try queue.start(
            ["serve", "--sockets", queue.directory + "/sockets"],
            environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "30000"])
        #expect(await eventually { hears() })
        let threads = "/proc/\(service.pid)/task"
        let thread = try #require(
            try FileManager.default.contentsOfDirectory(atPath: threads).first { thread in
                let name = try? String(
                    contentsOfFile: "\(threads)/\(thread)/comm", encoding: .utf8)
                return name?.hasPrefix("MHD") == true
            })
        let tracer = try Child(
            "strace", ["-p", thread, "-e", "inject=?epoll_wait,epoll_pwait:delay_enter=100000000"])
        let status = { try String(contentsOfFile: "\(threads)/\(thread)/status", encoding: .utf8) }
        #expect(try await eventually { try status().contains("TracerPid:\t\(tracer.pid)\n") })
        // It already waits: the delay begins with its next call, and a probe takes five seconds.
        let silent = await eventually {
            _ = hears()
            try? await Task.sleep(for: .seconds(6))
            return !hears()
        }
        #expect(silent, "\(tracer.errors.text)")
        tracer.kill(SIGKILL)
        #expect(await eventually { hears() })
    }

    @Test("A socket that the service manager has made is used, and stays", .needsSystemd)
    func activated() async throws {
        let socket = queue.directory + "/alertq.sock"
        let serve = [
            CommandLineQueue.program, "serve", "--database", queue.path, "--sockets",
            queue.directory,
        ]
        let activation = try Child(
            "systemd-socket-activate",
            ["-l", socket] + serve)
        #expect(await eventually { access(socket, F_OK) == 0 })
        let served = try CommandLineQueue(at: "unix:" + socket)
        #expect(try await served.run("ask", "Q", "--detach").output == "1\n")
        #expect(activation.errors.text.contains("serving \(queue.path) at unix:\(socket)"))
        activation.kill(SIGTERM)
        #expect(await activation.exit() == 0)
        #expect(access(socket, F_OK) == 0)
        // Others are not where its clients connect, or are no such sockets.
        for (options, place) in [
            (["-l", queue.directory + "/other.sock"], "socket \(queue.directory)/other.sock"),
            (["-d", "-l", queue.directory + "/datagrams.sock"], "socket number 3"),
        ] {
            let other = try Child("systemd-socket-activate", options + serve)
            let path = options.last ?? ""
            #expect(await eventually { access(path, F_OK) == 0 })
            #expect(
                await eventually {
                    clinux_send_datagram(path, "x") == 0
                        || (try? UnixSocket.connect(to: path)) != nil
                })
            #expect(await other.exit() == 65)
            #expect(other.errors.text.contains("the \(place) that"), "\(other.errors.text)")
        }
    }

    @Test("Lines that are no requests get replies that say why, and others are served")
    func badLines() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let socket = try UnixSocket.connect(to: service.socket)
        let lines = [
            ("GET /v1/health HTTP/1.1", 400, "can't be read: there is no value"),
            ("{}", 400, "whole number as “id”"), (#"{"id":7}"#, 400, "text as “method”"),
            ("[]", 400, "“id”"), (#"{"id":6,"method":"GET","path":5}"#, 400, "\"id\":6"),
            (#"{"id":1.5,"method":"GET","path":"/"}"#, 400, "“id”"),
            (#"{"id":8,"method":"GET","path":"/v1/nothing"}"#, 404, "no route"),
            (
                #"{"id":9,"method":"POST","path":"/store","body":{"pendingCount":{}}}"#, 400,
                "before “open”"
            ),
            (
                #"{"id":10,"method":"POST","path":"/store","body":{"find":{}}}"#, 400,
                "“body.find._0” is missing"
            ),
            (
                #"{"id":11,"method":"POST","path":"/store/open","body":{}}"#, 400,
                "“body.version” is missing"
            ),
            (String(repeating: "x", count: 1 << 21), 413, "1048576 bytes"),
        ]
        for (line, status, reason) in lines {
            #expect(socket.write((line + "\n").utf8))
            var reply = ""
            while !reply.hasSuffix("\n"), let bytes = socket.read(), !bytes.isEmpty {
                reply += String(decoding: bytes, as: UTF8.self)
            }
            let isExpected = reply.contains("\"status\":\(status)") && reply.contains(reason)
            #expect(isExpected, "\(line.prefix(80)): \(reply)")
        }
        let served = try CommandLineQueue(at: service.location)
        #expect(try await served.run("notify", "Still there").code == 0)
    }

    @Test("Numbers that make no sense end no service, and a screen of a stopped client is left")
    func hostile() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let served = try CommandLineQueue(behind: service)
        #expect(try await served.run("ask", "Q", "--detach").code == 0)
        let screen = try served.start(["present", "--on", "command:/bin/cat"])
        #expect(
            try await eventually {
                try await !queue.run("doctor").output.contains("no process shows alerts")
            })
        let socket = try UnixSocket.connect(to: service.socket)
        let calls = [
            #"{"page":{"_0":{"kind":{"waiting":{"orOverdue":false}},"limit":-1}}}"#,
            #"{"page":{"_0":{"kind":{"waiting":{"orOverdue":false}},"limit":9223372036854775807}}}"#,
            #"{"entries":{"_0":{"start":{"last":{"_0":-9223372036854775808}},"limit":0}}}"#,
            #"{"endLease":{"_0":-1}}"#, #"{"release":{"lease":7}}"#,
            #"{"waitForLeaseEnd":{"_0":7}}"#,
            #"{"next":{"_0":{"presenters":[],"own":[],"except":[],"prefersQuestions":true}}}"#,
        ]
        let open = #"{"id":0,"method":"POST","path":"/store/open","body":{"version":"alq3-2"}}"#
        let lines = calls.enumerated().map { number, call in
            #"{"id":\#(number + 1),"method":"POST","path":"/store","body":\#(call)}"#
        }
        #expect(socket.write(([open] + lines).map { $0 + "\n" }.joined().utf8))
        var text = ""
        while text.count(where: { $0 == "\n" }) <= calls.count, let bytes = socket.read(),
            !bytes.isEmpty
        {
            text += String(decoding: bytes, as: UTF8.self)
        }
        #expect(text.count { $0 == "\n" } == calls.count + 1, "\(text)")
        #expect(!text.contains("\"status\":400"), "\(text)")
        screen.kill(SIGSTOP)
        #expect(
            try await eventually {
                try await queue.run("doctor").output.contains("no process shows alerts")
            })
        screen.kill(SIGCONT)
        screen.kill(SIGTERM)
        _ = await screen.exit()
        #expect(try await served.run("list", "--count").output == "1\n")
    }

    @Test("A client that waits for the ends of many leases at once is read from all the same")
    func leases() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let served = try CommandLineQueue(behind: service)
        #expect(try await served.run("ask", "Q", "--detach", "-b", "yes").code == 0)
        let socket = try UnixSocket.connect(to: service.socket, within: 60)
        let open = #"{"id":1,"method":"POST","path":"/store/open","body":{"version":"alq3-2"}}"#
        let calls =
            [#"{"lease":{"_0":1,"for":{"waiting":{}}}}"#]
            + Array(repeating: #"{"waitForLeaseEnd":{"_0":1}}"#, count: 600)
        let lines = calls.enumerated().map { number, call in
            #"{"id":\#(number + 2),"method":"POST","path":"/store","body":\#(call)}"#
        }
        #expect(socket.write(([open] + lines).map { $0 + "\n" }.joined().utf8))
        let last = #"{"id":9999,"method":"GET","path":"/v1/health"}"#
        #expect(socket.write((last + "\n").utf8))
        var text = ""
        while !text.contains("\"id\":9999"), let bytes = socket.read(), !bytes.isEmpty {
            text += String(decoding: bytes, as: UTF8.self)
        }
        #expect(text.contains("\"number\":1") && text.contains("\"ready\":true"), "\(text)")
    }

    @Test("A service whose lock somebody has removed leaves the sockets of the next one")
    func removedLock() async throws {
        let first = try await CommandLineQueue.Service(of: queue)
        #expect(unlink(first.directory + "/alertq.lock") == 0)
        let next = try await CommandLineQueue.Service(of: queue)
        first.process.kill(SIGTERM)
        #expect(await first.process.exit() == 0)
        let served = try CommandLineQueue(at: next.location)
        #expect(try await served.run("notify", "Still there").code == 0)
    }

    @Test("What is done to files is done beside the service, and the error says so")
    func files() async throws {
        let served = try await queue.served()
        let words = [
            ["backup", "copy.db"], ["restore", "/etc/passwd"], ["purge", "--older-than", "1d"],
            ["doctor", "--reindex"], ["serve"],
        ]
        for words in words {
            let finished = try await served.start(words).finish()
            #expect(finished.code == 64, "\(words): \(finished)")
            #expect(finished.errors.contains("service"), "\(words): \(finished)")
        }
        let copy = try await served.run("store", "copy", served.path, queue.directory + "/copy.db")
        #expect(copy.code == 65 && copy.errors.contains("on the service's machine"), "\(copy)")
    }
}
