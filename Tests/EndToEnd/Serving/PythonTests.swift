import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Programs in Python that use `Sources/Python/alertq.py`.
@Suite("The client in Python", .inParallel, .within(.seconds(120)))
struct PythonTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// Starts a program, in which `queue` is a queue.
    private func start(
        _ program: String, at location: String? = nil, connect: String = "connect",
        token: String? = nil, environment: [String: String] = [:]
    ) throws -> Child {
        let location = location ?? queue.path
        let start =
            "import alertq, sys\n"
            + "queue = alertq.\(connect)(\"\(location)\", program=\"\(CommandLineQueue.program)\""
            + (token.map { ", token=\"\($0)\"" } ?? "") + ")\n"
        let sources = CodeBlock.root.appending(path: "Sources/Python").path
        return try Child(
            "python3", ["-c", start + program],
            environment: ["PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"]
                .merging(environment) { $1 })
    }

    private func run(_ program: String, at location: String? = nil) async throws -> Finished {
        await (try start(program, at: location)).finish()
    }

    @Test(
        "It asks through a child process, and gets what a person answers", arguments: [false, true])
    func asking(isServed: Bool) async throws {
        let service = isServed ? try await CommandLineQueue.Service(of: queue) : nil
        let child = try start(
            """
            response = queue.ask(
                "Prune?", buttons={"yes": "Prune"}, cancel={"no": "Keep"}, key="k",
                message="40 GB", timeout=3600, source="backup")
            print(response.button, response.by, response.outcome, response.note)
            try:
                if response: pass
            except TypeError as error:
                print(error)
            """, at: service?.location)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let record = try await queue.objects("list")[0]
        #expect(
            record["message"] as? String == "40 GB" && record["timeout_ms"] as? Int == 3_600_000)
        #expect(try await queue.run("answer", "1", "yes", "--note", "now").code == 0)
        let finished = await child.finish()
        #expect(finished.code == 0, "\(finished)")
        #expect(finished.output.hasPrefix("yes program answered now\na response is neither true"))
        let events = try await queue.objects("audit", "list").map { $0["event"] as? String }
        #expect(events == ["asked", "resolved", "collected"])
    }

    @Test("What nobody chose has no button, and an error says what is wrong")
    func outcomes() async throws {
        let finished = try await run(
            """
            print(queue.ask("Q", buttons={"yes": "Yes"}, timeout=0.05).outcome)
            print(queue.ask("Q", buttons={"yes": "Yes"}, timeout=0.05, default="yes").by)
            number = queue.submit("Q", buttons={"yes": "Yes"}, key="k")
            print(queue.wait(number, timeout=0.01))
            for call in [
                lambda: queue.submit("Other", key="k"), lambda: queue.answer(number, "maybe"),
                lambda: queue.show(99), lambda: queue.submit("Q", colour="red"),
                lambda: queue.submit("Q", buttons=["yes"]), lambda: queue.history(key="k"),
            ]:
                try:
                    call()
                except alertq.Error as error:
                    print(error.status, error.type)
                except TypeError as error:
                    print("TypeError")
            print(queue.answer(number, "yes", note="n").note)
            print(queue.collect(number).record["collected_at"] is not None)
            print([alert["id"] for alert in queue.history(outcome="answered")])
            print(queue.withdraw(queue.submit("R", key="r")).outcome)
            print([event["event"] for event in queue.events(follow=False)].count("asked"))
            """)
        #expect(finished.code == 0, "\(finished)")
        let expected = [
            "expired", "policy", "None", "409 key-conflict", "400 no-such-button", "404 not-found",
            "400 bad-request", "TypeError", "TypeError", "n", "True", "[3]", "withdrawn", "4",
        ]
        #expect(finished.output.split(separator: "\n").map(String.init) == expected, "\(finished)")
    }

    @Test("What is no service of lines is said at once", .needsHTTP)
    func wrongSocket() async throws {
        let service = try await CommandLineQueue.Service(of: queue)
        let finished = try await run("queue.show(1)", at: "unix:\(service.api)")
        #expect(finished.errors.contains("a service of lines is at alertq.sock"), "\(finished)")
        let other = try await queue.run("list", "--database", "unix:\(service.api)")
        #expect(other.code == 74 && other.errors.contains("is no service"), "\(other)")
    }

    @Test("Replies that are none of alertq's are errors", arguments: ["{}", "[1]", "[[[["])
    func strangeReplies(_ body: String) async throws {
        let depth = body == "[[[[" ? 100_000 : 1
        let finished = try await run(
            """
            import http.server, socket, threading
            text = (b"[" * \(depth) if \(depth) > 1 else b'\(body)')
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(text)
            server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            lines = socket.socket(socket.AF_UNIX)
            lines.bind("\(queue.directory)/lines")
            lines.listen()
            def serve():
                client, _ = lines.accept()
                client.recv(1000)
                client.sendall(b'{"id":1,"status":200,"body":' + text + b"}\\n")
            threading.Thread(target=serve, daemon=True).start()
            for place in [
                f"http://127.0.0.1:{server.server_port}", "unix:\(queue.directory)/lines"
            ]:
                try:
                    alertq.connect(place).wait(1)
                except alertq.Error as error:
                    print("Error")
            """)
        #expect(finished.output == "Error\nError\n", "\(finished)")
    }

    @Test(
        "Lines that are no replies are errors, and keep nobody waiting",
        arguments: [
            "hello", #"{"id":5,"status":200,"body":{}}"#, #"{"id":[],"status":200,"body":{}}"#,
            #"{"id":1,"status":"200","body":{}}"#, #"{"id":1,"status":200,"body":[]}"#,
            #"{"id":0,"status":400,"body":{"detail":"no request"}}"#,
        ])
    func strangeLines(_ line: String) async throws {
        let program = queue.directory + "/program"
        try "#!/bin/sh\nread -r line\necho '\(line)'\ncat >/dev/null\n".write(
            toFile: program, atomically: true, encoding: .utf8)
        chmod(program, 0o755)
        let finished = try await run(
            """
            strange = alertq.connect("\(queue.path)", program="\(program)")
            for call in [lambda: strange.show(1), lambda: strange.wait(1), strange.close]:
                try:
                    call()
                except alertq.Error as error:
                    print("Error")
            """)
        #expect(finished.code == 0 && finished.output == "Error\nError\n", "\(finished)")
    }

    @Test("A wait ends in time while the service is away, and one that was forked is nobody else's")
    func boundsAndForks() async throws {
        let finished = try await run(
            """
            import os, time
            start = time.monotonic()
            away = alertq.connect("unix:/nonexistent/alertq.sock")
            print(away.wait(1, timeout=0.3), time.monotonic() - start < 60)
            number = queue.submit("Q", buttons={"yes": "Yes"}, key="k")
            connection = queue._carrier._connections[0]
            if os.fork() == 0:
                queue.close()
                os._exit(0)
            os.wait()
            print(queue.show(number)["id"], connection.is_over)
            try:
                queue.submit("Q", message="m" * (1 << 20))
            except ValueError as error:
                print("ValueError")
            print(queue.show(number)["id"], connection.is_over)
            """)
        #expect(
            finished.code == 0
                && finished.output == "None True\n1 False\nValueError\n1 False\n", "\(finished)")
    }

    @Test("Ctrl-C leaves the question standing, and says its key")
    func interrupted() async throws {
        let child = try start("queue.ask(\"Q\", buttons={\"yes\": \"Yes\"})")
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        child.kill(SIGINT)
        #expect(await child.exit() == 128 + SIGINT)
        let key = try #require(try await queue.objects("list")[0]["key"] as? String)
        #expect(child.errors.text.contains("ask it again with the key '\(key)'"))
    }

    @Test("It goes on when its service is killed and started again, and asks nothing twice")
    func restarted() async throws {
        var service = try await CommandLineQueue.Service(of: queue)
        let child = try start(
            """
            for number in range(20):
                response = queue.ask(f"Q{number}", buttons={"yes": "Yes"}, key=f"k{number}")
                print(response.button)
            """, at: service.location)
        for number in 1...20 {
            let list = {
                try await queue.objects("list").first?["id"] as? Int == number
            }
            #expect(try await eventually { try await list() })
            if number % 5 == 0 {
                service.process.kill(SIGKILL)
                _ = await service.process.exit()
                service = try await CommandLineQueue.Service(of: queue)
            }
            #expect(try await queue.run("answer", "\(number)", "yes").code == 0)
        }
        let finished = await child.finish()
        #expect(finished.code == 0, "\(finished)")
        #expect(finished.output == String(repeating: "yes\n", count: 20))
        #expect(try await queue.objects("history", "--uncollected").isEmpty)
        #expect(try await queue.isSound())
    }

    @Test(
        "Over https it asks through a proxy whose certificate is known, also of a service that was away",
        .enabled(if: Tool.hasProxy("nginx") && access("/usr/bin/openssl", X_OK) == 0))
    func overHTTPS() async throws {
        var service = try await CommandLineQueue.Service(of: queue, listens: true)
        let (port, token) = (try #require(service.port), try service.token)
        let proxy = try await Proxy(securing: port)
        let url = "https://localhost:\(proxy.port)/alerts"
        let submit = "queue.submit('Q')"
        let stranger = try start(submit, at: url, token: token)
        #expect(await stranger.finish().errors.contains("CERTIFICATE_VERIFY_FAILED"))
        let trusting = ["SSL_CERT_FILE": proxy.certificate]
        let nobody = try start(submit, at: url, environment: trusting)
        #expect(await nobody.finish().errors.contains("alertq.Error: send “Authorization"))
        let child = try start(
            """
            import threading, time
            response = queue.ask("Prune?", buttons={"yes": "Prune"}, cancel={"no": "Keep"}, key="k")
            print(response.button, response.record["collected_at"])
            print([event["event"] for event in queue.events(follow=False)])
            number = queue.submit("R", buttons={"yes": "Yes"}, key="r")
            start = time.monotonic()
            threading.Timer(0.2, queue.close).start()
            for call in [lambda: queue.wait(number), lambda: queue.show(number)]:
                try:
                    call()
                except alertq.Error as error:
                    print(error, time.monotonic() - start < 20)
            """, at: url, token: token + "\\n", environment: trusting)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        service.process.kill(SIGKILL)
        _ = await service.process.exit()
        service = try await CommandLineQueue.Service(of: queue, listens: true, port: port)
        #expect(try service.token == token)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let finished = await child.finish()
        #expect(finished.code == 0, "\(finished)")
        #expect(
            finished.output.contains(
                "yes None\n['asked', 'resolved', 'collected']\n"
                    + String(repeating: "the queue was closed True\n", count: 2)),
            "\(finished)")
        #expect(try await queue.isSound())
    }

    @Test(
        "An address to which a token must not be sent is refused",
        arguments: [
            "http://alerts.example", "https:///alerts", "https://ana@localhost",
            "https://localhost?a", "https://local host", "https://localhost/a b",
            "https://localhost:port",
        ])
    func address(_ url: String) async throws {
        let finished = await (try start("", at: url, token: "t")).finish()
        #expect(finished.code == 1 && finished.errors.contains("ValueError: "), "\(finished)")
    }

    @Test("A token that can't be sent is refused, and is in no message")
    func badToken() async throws {
        let finished = await (try start("", at: "https://localhost", token: "s ecret")).finish()
        let message = finished.errors.split(separator: "\n").last ?? ""
        #expect(message.hasPrefix("ValueError: the token") && !message.contains("ecret"))
    }

    @Test("Many tasks of asyncio ask at once")
    func tasks() async throws {
        let child = try start(
            """
            import asyncio
            async def main():
                async with queue:
                    asks = [queue.ask(f"Q{n}", buttons={"yes": "Yes"}) for n in range(30)]
                    *responses, _ = await asyncio.gather(*asks, answer(30))
                    print([response.button for response in responses].count("yes"))
            async def answer(count):
                async for event in queue.events():
                    if event["event"] == "asked":
                        await queue.answer(event["alert"], "yes")
                        count -= 1
                        if count == 0: return
            asyncio.run(main())
            """, connect: "connect_async")
        let finished = await child.finish()
        #expect(finished.code == 0 && finished.output == "30\n", "\(finished)")
    }

    @Test("More tasks wait at once than a connection carries, and an answer gets through")
    func manyTasks() async throws {
        let child = try start(
            """
            import asyncio
            async def main():
                async with queue:
                    number = await queue.submit("Q", buttons={"yes": "Yes"}, key="k")
                    waits = [asyncio.create_task(queue.wait(number)) for _ in range(500)]
                    await asyncio.sleep(0)
                    await queue.answer(number, "yes")
                    print({response.button for response in await asyncio.gather(*waits)})
            asyncio.run(main())
            """, connect: "connect_async")
        let finished = await child.finish()
        #expect(finished.code == 0 && finished.output == "{'yes'}\n", "\(finished)")
    }

    /// The programs of the article.
    static let examples =
        (try? CodeBlock.all("python", in: CodeBlock.articles + "UsingPython.md").map(\.text)) ?? []

    @Test("The article's programs do what it says", arguments: examples)
    func example(_ program: String) async throws {
        let programs = queue.directory + "/bin"
        try FileManager.default.createDirectory(
            atPath: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: programs + "/alertq", withDestinationPath: CommandLineQueue.program)
        let child = try Child(
            "python3", ["-c", program],
            environment: [
                "PYTHONPATH": CodeBlock.root.appending(path: "Sources/Python").path,
                "PYTHONDONTWRITEBYTECODE": "1", "ALERTQ_DATABASE": queue.path,
                "PATH": "\(programs):\(CodeBlock.path)",
            ])
        if program.contains("queue.ask(") {
            #expect(try await eventually { try await queue.objects("list").count == 1 })
            #expect(try await queue.run("answer", "1", "yes").code == 0)
        }
        let finished = await child.finish()
        #expect(finished.code == 0 && finished.output != "", "\(finished)")
    }

    @Test("The article has programs")
    func hasExamples() { #expect(Self.examples.count == 3) }
}
