import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Question hook", .inParallel)
struct QuestionHookTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private var runs: [String] { queue.lines("log") }
    private var cursor: String { queue.directory + "/cursor" }

    /// A shell script that first records for which alert it runs.
    private func program(_ script: String = "") throws -> String {
        try queue.script("hook", "echo \"$ALERTQ_ALERT\" >> \(queue.directory)/log\n" + script)
    }

    private func ask(_ options: String...) async throws {
        let words = ["ask", "Prune?", "-b", "yes", "--cancel", "no", "--detach"]
        #expect(try await queue.start(words + options).finish().code == 0)
    }

    private func watch(_ options: String...) throws -> Child {
        try queue.start(["watch", "--event", "asked", "--exec"] + options)
    }

    private func end(_ watch: Child) async {
        watch.kill(SIGTERM)
        #expect(await watch.exit() == 128 + SIGTERM)
    }

    @Test("A program runs once for each question that waits, and then for each new one")
    func onceForEach() async throws {
        let hook = try program("cat > \(queue.directory)/in.$ALERTQ_ALERT")
        try await ask("--priority", "low", "--key", "prune")
        try await ask()
        try await ask("--priority", "high")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        let first = try watch(hook, "--cursor", cursor)
        #expect(await eventually { runs == ["1", "3"] })
        #expect(try await queue.run("notify", "Done").code == 0)
        try await ask()
        #expect(await eventually { runs == ["1", "3", "5"] })
        let shown = try await queue.run("show", "5", "--json").output
        #expect(await eventually { queue.lines("in.5").map { $0 + "\n" }.joined() == shown })
        // Another process must not run it for the same questions.
        #expect(try await watch(hook, "--cursor", cursor).finish().code == 75)
        await end(first)
        try await ask()
        let second = try watch(hook, "--cursor", cursor)
        #expect(await eventually { runs == ["1", "3", "5", "6"] })
        await end(second)
        #expect(queue.lines("cursor").first?.split(separator: ":").count == 2)
        try FileManager.default.removeItem(atPath: cursor)
        let again = try watch(hook, "--cursor", cursor)
        #expect(await eventually { runs == ["1", "3", "5", "6", "1", "3", "5", "6"] })
        await end(again)
        #expect(try await queue.objects("list").count == 5)
    }

    @Test("A failed run is reported but not repeated; an interrupted one is repeated")
    func failing() async throws {
        let hook = try program(
            "[ $ALERTQ_ALERT = 1 ] && exit 3; [ -e \(queue.directory)/go ] || sleep 1000")
        try await ask()
        try await ask()
        let first = try watch(hook, "--cursor", cursor)
        #expect(await eventually { runs == ["1", "2"] })
        #expect(await eventually { first.errors.text.contains("alert 1: \(hook) exited with 3") })
        await end(first)
        try Data().write(to: URL(filePath: queue.directory + "/go"))
        let second = try watch(hook, "--cursor", cursor, "--json")
        #expect(await eventually { second.output.text.hasPrefix(#"{"id":2,"#) })
        #expect(runs == ["1", "2", "2"])
        await end(second)
    }

    @Test("A cursor that does not fit the log is an error, and nothing is run")
    func wrongCursor() async throws {
        let hook = try program()
        try await ask()
        let zeros = String(repeating: "0", count: 64)
        for (text, code) in [
            ("1:\(zeros)\n", Int32(66)), ("9:\(zeros)", 66), ("x", 65), ("", 65),
        ] {
            try Data(text.utf8).write(to: URL(filePath: cursor))
            let finished = try await watch(hook, "--cursor", cursor).finish()
            #expect(finished.code == code, "\(finished)")
        }
        #expect(runs.isEmpty)
    }

    @Test("With --source or --since, the program runs only for matching questions")
    func conditions() async throws {
        let hook = try program()
        try await ask("--source", "backup")
        try await ask()
        let backup = try watch(hook, "--source", "backup")
        #expect(await eventually { runs == ["1"] })
        try await ask()
        try await ask("--source", "backup")
        #expect(await eventually { runs == ["1", "4"] })
        await end(backup)
        let fromNow = try watch(hook, "--since", "now")
        #expect(
            try await eventually {
                try await ask("--source", "now")
                return runs.count > 2
            })
        #expect(runs.dropFirst(2).allSatisfy { Int($0) ?? 0 > 4 })
        await end(fromNow)
    }

    @Test(
        "Options that are for responses or for another event are refused",
        arguments: [
            ["--event", "asked"], ["--cursor", "c"], ["--exec", "true", "--cursor", "c"],
            ["--exec", "true", "--event", "asked", "--button", "yes"],
            ["--exec", "true", "--event", "asked", "--after", "0"],
        ])
    func refused(options: [String]) async throws {
        #expect(try await queue.start(["watch"] + options).finish().code == 64)
    }
}
