import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

@Suite("Answer hook", .inParallel)
struct HookTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private var log: String { queue.directory + "/log" }

    private var runs: [String] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    /// A shell script that first records that it runs, and for which alert.
    private func program(_ script: String = "") throws -> String {
        let path = queue.directory + "/hook-\(UUID())"
        let head = "#!/bin/sh\necho \"$ALERTQ_ALERT\" >> \(log)\n"
        try Data((head + script + "\n").utf8).write(to: URL(filePath: path))
        chmod(path, 0o755)
        return path
    }

    /// Asks and answers, without waiting.
    private func answered(_ count: Int, button: String = "yes") async throws {
        for _ in 1...count {
            let asked = try await queue.run(
                "ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No", "--detach")
            let id = String(asked.output.dropLast())
            #expect(try await queue.run("answer", id, button).code == 0)
        }
    }

    private func uncollected() async throws -> Int {
        try await queue.objects("history", "--uncollected").count
    }

    @Test("A program gets each response once, on stdin and in its environment")
    func runsOnce() async throws {
        let hook = try program(
            """
            cat > \(queue.directory)/in.$ALERTQ_ALERT
            echo "$ALERTQ_OUTCOME $ALERTQ_BUTTON $ALERTQ_DATABASE $# $2"
            echo "$ALERTQ_VALUES $ALERTQ_NOTE"
            """)
        try await answered(1)
        let shown = try await queue.run("show", "1", "--json").output
        let watch = try queue.start(["watch", "--exec", hook, "--", "-v", "a b"])
        #expect(await eventually { (try? await uncollected()) == 0 })
        try await answered(1, button: "no")
        #expect(await eventually { (try? await uncollected()) == 0 && runs == ["1", "2"] })
        let input = try String(contentsOfFile: queue.directory + "/in.1", encoding: .utf8)
        #expect(input == shown)
        watch.kill(SIGTERM)
        #expect(await watch.exit() == 128 + SIGTERM)
        let output = await watch.output.complete()
        #expect(
            output
                == "answered yes \(queue.path) 2 a b\n{} \nanswered no \(queue.path) 2 a b\n{} \n")
        #expect(
            try await queue.run("ask", "Q", "-b", "go", "--field", "host", "--detach").code == 0)
        #expect(
            try await queue.run("answer", "3", "go", "--set", "host=nas", "--note", "now").code == 0
        )
        let third = try queue.start(["watch", "--exec", hook])
        #expect(await eventually { third.output.text.hasSuffix("{\"host\":\"nas\"} now\n") })
        // Until then, a signal may end the program before it has succeeded.
        #expect(await eventually { (try? await uncollected()) == 0 })
        third.kill(SIGTERM)
        _ = await third.exit()
        let again = try queue.start(["watch", "--json", "--exec", try program()])
        try await answered(1)
        #expect(await eventually { again.output.text.contains("\"collected_at\":\"") })
        #expect(runs == ["1", "2", "3", "4"])
        #expect(try await queue.isSound())
    }

    @Test(
        "A failed response stays, is reported, and is tried again",
        arguments: [
            ("exit 3", "60s", "exited with 3"), ("kill -KILL $$", "60s", "ended by signal 9"),
            ("sleep 1000", "2s", "took too long"),
        ])
    func failing(failure: String, limit: String, text: String) async throws {
        let hook = try program("[ $(wc -l < \(log)) -ge 3 ] && exit 0\n" + failure)
        try await answered(1)
        let watch = try queue.start(["watch", "--exec", hook, "--exec-timeout", limit])
        #expect(await eventually { watch.errors.text.contains(text) })
        #expect(try await uncollected() == 1)
        #expect(await eventually { (try? await uncollected()) == 0 })
        // On a busy machine a run that would end in time may not.
        #expect(runs.count == 3 || limit == "2s" && runs.count > 3)
        #expect(Set(runs) == ["1"])
        #expect(watch.errors.text.contains("trying again in 2 s"))
        #expect(try await queue.isSound())
    }

    @Test("Values that are too long for a variable leave none of another alert's there")
    func longValues() async throws {
        var schema = #"{"properties":{"f0":{"type":"string","multiline":true}"#
        for number in 1..<8 { schema += #","f\#(number)":{"type":"string","multiline":true}"# }
        #expect(
            try await queue.run("ask", "Q", "-b", "go", "--schema", schema + "}}", "--detach").code
                == 0)
        // Each of them has two bytes in JSON.
        let text = String(repeating: "\"", count: 4096)
        let values = (0..<8).flatMap { ["--set", "f\($0)=\(text)"] }
        let answer = try await queue.start(["answer", "1", "go", "--note", "n"] + values).finish()
        #expect(answer.code == 0, "\(answer)")
        let hook = try program("echo \"${ALERTQ_VALUES-none} $ALERTQ_NOTE $ALERTQ_BUTTON\"")
        let watch = try queue.start(
            ["watch", "--exec", hook], environment: ["ALERTQ_VALUES": "another's"])
        #expect(await eventually { watch.output.text == "none n go\n" })
        watch.kill(SIGTERM)
        _ = await watch.exit()
    }

    @Test("A failure does not hold up others, and is tried again at the next start")
    func others() async throws {
        try await answered(3)
        let bad = try program("[ $ALERTQ_ALERT != 1 ]")
        let first = try queue.start(["watch", "--exec", bad])
        #expect(await eventually { (try? await uncollected()) == 1 })
        first.kill(SIGTERM)
        _ = await first.exit()
        let second = try queue.start(["watch", "--exec", try program()])
        #expect(await eventually { (try? await uncollected()) == 0 })
        second.kill(SIGTERM)
        #expect(await second.exit() == 128 + SIGTERM)
    }

    @Test("SIGTERM ends the running program too, and its response stays")
    func terminated() async throws {
        // It says when it is ready for the signal.
        let hook = try program(
            "trap 'echo ended >> \(log); exit 1' TERM; echo ready >> \(log); sleep 1000 & wait")
        try await answered(1)
        let watch = try queue.start(["watch", "--exec", hook])
        #expect(await eventually { runs == ["1", "ready"] })
        watch.kill(SIGTERM)
        #expect(await watch.exit() == 128 + SIGTERM)
        #expect(runs == ["1", "ready", "ended"])
        #expect(try await uncollected() == 1)
    }

    @Test("A response whose program succeeds while watch ends is collected once the lock is free")
    func succeedsAtTheEnd() async throws {
        let hook = try program(
            "trap '' TERM; echo ready >> \(log); "
                + "until [ -e \(queue.directory)/go ]; do sleep 0.05; done; echo done >> \(log)")
        try await answered(1)
        let watch = try queue.start(["watch", "--exec", hook])
        #expect(await eventually { runs == ["1", "ready"] })
        watch.kill(SIGTERM)
        let holder = try await queue.lockHolder(isStopped: false)
        try Data().write(to: URL(filePath: queue.directory + "/go"))
        #expect(await eventually { runs == ["1", "ready", "done"] })
        // Longer than a process that ends waits for a lock that another one keeps.
        try await Task.sleep(for: .seconds(2))
        holder.kill(SIGKILL)
        #expect(await watch.exit() == 128 + SIGTERM)
        #expect(try await uncollected() == 0)
        #expect(try await queue.isSound())
    }

    @Test("While the program of a killed watch still runs, no other starts for its response")
    func killed() async throws {
        let hook = try program("until [ -e \(queue.directory)/go ]; do sleep 0.05; done")
        try await answered(1)
        let first = try queue.start(["watch", "--exec", hook])
        #expect(await eventually { runs == ["1"] })
        first.kill(SIGKILL)
        _ = await first.exit()
        let second = try queue.start(["watch", "--exec", try program()])
        // Another response is handled meanwhile, but not this one.
        try await answered(1)
        #expect(await eventually { runs == ["1", "2"] })
        #expect(await eventually { (try? await uncollected()) == 1 })
        try Data().write(to: URL(filePath: queue.directory + "/go"))
        #expect(await eventually { runs == ["1", "2", "1"] })
        #expect(await eventually { (try? await uncollected()) == 0 })
        second.kill(SIGTERM)
        _ = await second.exit()
        #expect(try await queue.isSound())
    }

    @Test("Several watches share the work, and no response is handled twice")
    func several() async throws {
        let hook = try program()
        let watches = try (1...3).map { _ in try queue.start(["watch", "--exec", hook]) }
        try await answered(30)
        #expect(await eventually { (try? await uncollected()) == 0 })
        #expect(runs.compactMap { Int($0) }.sorted() == Array(1...30))
        for watch in watches {
            watch.kill(SIGTERM)
            #expect(await watch.exit() == 128 + SIGTERM)
        }
        #expect(try await queue.isSound())
    }

    @Test("A response that a waiting ask takes is left to it")
    func waitingAsk() async throws {
        let watch = try queue.start(["watch", "--exec", try program()])
        for id in 1...5 {
            let asker = try queue.start(["ask", "Go?", "-b", "yes", "--cancel", "no"])
            #expect(await eventually { asker.errors.text.contains("waiting") })
            #expect(try await queue.run("answer", "\(id)", "yes").code == 0)
            #expect(await asker.finish().output == "yes\n")
        }
        try await answered(1)
        _ = await eventually { !runs.isEmpty }
        #expect(runs == ["6"])
        watch.kill(SIGTERM)
        _ = await watch.exit()
    }

    @Test("A waiting ask has its response to itself until that is collected")
    func leased() async throws {
        // The line is longer than a pipe, and at first only its beginning is read.
        let gate = queue.directory + "/gate"
        #expect(mkfifo(gate, 0o600) == 0)
        let reader = "{ head -c 1; echo printing >&2; read -r _ < \(gate); cat; }"
        let asker = try queue.start(
            [
                "ask", "Go?", "-m", String(repeating: "\u{1}", count: 60_000), "-b", "yes",
                "--cancel", "no", "--json",
            ], under: ["sh", "-c", "\"$@\" | \(reader)", "sh"])
        #expect(await eventually { asker.errors.text.contains("waiting") })
        #expect(isLeased(1))
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await eventually { asker.errors.text.contains("printing") })
        #expect(isLeased(1))
        #expect(try await uncollected() == 1)
        try Data("\n".utf8).write(to: URL(filePath: gate))
        _ = await asker.finish()
        #expect(try await uncollected() == 0)
        #expect(!isLeased(1))
    }

    /// Whether a process has the response of an alert to itself.
    private func isLeased(_ id: Int64) -> Bool {
        let leases = Descriptor.openForReading(queue.path + "-leases")
        return leases?.isLockedByOthers(LockRange(start: id, length: 1)) == true
    }

    @Test("Responses that the filters exclude stay uncollected; a program need not read its input")
    func filters() async throws {
        let message = String(repeating: "\u{1}", count: 60_000)
        for (source, button) in [("a", "yes"), ("a", "no"), ("b", "yes")] {
            let asked = try await queue.run(
                "ask", "T", "-m", message, "-b", "yes", "--cancel", "no", "--source", source,
                "--detach")
            _ = try await queue.run("answer", String(asked.output.dropLast()), button)
        }
        _ = try await queue.run("ask", "W", "--source", "a", "--detach")
        _ = try await queue.run("withdraw", "4")
        let watch = try queue.start([
            "watch", "--source", "a", "--button", "yes", "--outcome", "answered", "--since", "1d",
            "--exec", try program(),
        ])
        #expect(await eventually { (try? await uncollected()) == 3 })
        #expect(runs == ["1"])
        watch.kill(SIGTERM)
        #expect(await watch.exit() == 128 + SIGTERM)
    }

    @Test(
        "Options that are invalid or have no effect are refused",
        arguments: [
            ["--exec", "no-such-program"], ["--exec", "/"], ["--exec", ""], ["stray"],
            ["--button", "yes"], ["--exec", "true", "--after", "1"],
            ["--exec", "true", "--exec-timeout", "0"], ["--after", "x"],
        ])
    func refused(words: [String]) async throws {
        let finished = try await queue.start(["watch"] + words).finish()
        #expect(finished.code == 64 && finished.errors.hasPrefix("alertq: watch: "))
    }
}
