import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Watching events", .inParallel)
struct WatchTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func lines(_ child: Child) -> [String] {
        child.output.text.split(separator: "\n").map(String.init)
    }

    @Test("Events come as they happen, each once, as audit list prints them")
    func asTheyHappen() async throws {
        // The queue does not exist yet.
        let watch = try queue.start(["watch", "--json", "--after", "0"])
        #expect(await eventually { watch.errors.text.contains("waiting for one") })
        for id in 1...20 {
            _ = try await queue.run(
                "ask", "Question \(id)?", "-b", "yes", "--cancel", "no", "--detach")
            #expect(await eventually { lines(watch).count >= 2 * id - 1 })
            #expect(try await queue.run("answer", "\(id)", "yes").code == 0)
        }
        #expect(await eventually { lines(watch).count == 40 })
        let list = try await queue.run("audit", "list", "--json", "--limit", "1000")
        #expect(watch.output.text == list.output)
        #expect(list.output.contains(#""button":"yes""#))
        watch.kill(SIGINT)
        #expect(await watch.exit() == 128 + SIGINT)
    }

    @Test("watch begins with the next event, or after a number")
    func resuming() async throws {
        _ = try await queue.run("notify", "First")
        let fromNow = try queue.start(["watch"])
        // Only an event shows that it has begun.
        #expect(
            try await eventually {
                _ = try await queue.run("notify", "Second")
                return !lines(fromNow).isEmpty
            })
        let count = try await queue.objects("audit", "list", "--limit", "1000").count
        let behind = try queue.start(["watch", "--after", "\(count)"])
        let all = try queue.start(["watch", "--after", "0"])
        #expect(await eventually { lines(all).count == count })
        for title in ["Third", "Fourth"] { _ = try await queue.run("notify", title) }
        #expect(await eventually { lines(all).count == count + 2 && lines(behind).count == 2 })
        #expect(await eventually { fromNow.output.text.contains("Fourth") })
        #expect(!fromNow.output.text.contains("First"))
        try #require(lines(all).count == count + 2)
        #expect(lines(behind) == Array(lines(all).dropFirst(count)))
        let fields = lines(all)[count + 1].split(separator: "\t").map(String.init)
        let last = "\(count + 2)"
        #expect([fields[0], fields[2], fields[3], fields[4]] == [last, last, "asked", "Fourth"])
    }

    @Test(
        "A cursor beyond the end of the log is refused, with where the log ends",
        arguments: [["watch"], ["watch", "--json"], ["audit", "list"], ["audit", "export"]])
    func beyondTheEnd(verb: [String]) async throws {
        let early = try await queue.start(["watch", "--after", "1"]).finish()
        #expect(early.code == 66 && early.errors.contains("the log is empty"), "\(early)")
        for title in ["First", "Second"] { _ = try await queue.run("notify", title) }
        for cursor in ["3", "9223372036854775807"] {
            let refused = try await queue.start(verb + ["--after", cursor]).finish()
            #expect(refused.code == 66 && refused.output.isEmpty, "\(refused)")
            #expect(
                refused.errors.contains(
                    "no entry \(cursor) to continue after: the log ends with entry 2"))
        }
        #expect(try await queue.run("audit", "list", "--after", "2").code == 0)
    }

    @Test("One alert or one source can be watched alone")
    func filters() async throws {
        for (source, title) in [("a", "One"), ("b", "Two"), ("a", "Three")] {
            _ = try await queue.run("ask", title, "--source", source, "--detach")
        }
        _ = try await queue.run("answer", "2", "OK")
        let alert = try queue.start(["watch", "--after", "0", "--alert", "2"])
        let source = try queue.start(["watch", "--after", "0", "--source", "a"])
        #expect(await eventually { lines(alert).count == 2 && lines(source).count == 2 })
        _ = try await queue.run("answer", "3", "OK")
        #expect(await eventually { lines(source).count == 3 })
        #expect(lines(alert).allSatisfy { $0.contains("\tTwo\t") })
        #expect(!source.output.text.contains("Two"))
    }

    @Test("watch ends when its reader has gone, even without events")
    func readerGone() async throws {
        _ = try await queue.run("notify", "First")
        let script = "\(CommandLineQueue.program) watch --after 0 | head -1; exit ${PIPESTATUS[0]}"
        let shell = try Child(
            "bash", ["-c", script], environment: ["ALERTQ_DATABASE": queue.path])
        #expect(await shell.exit() == 128 + SIGPIPE)
    }

    @Test("A reader that stops reading does not keep SIGTERM from ending watch")
    func readerStuck() async throws {
        for _ in 1...60 {
            _ = try await queue.run("notify", String(repeating: "long ", count: 200))
        }
        let pipe = queue.directory + "/pipe"
        mkfifo(pipe, 0o600)
        let reader = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        let shell = try Child(
            "sh", ["-c", "exec \(CommandLineQueue.program) watch --json --after 0 > \(pipe)"],
            environment: ["ALERTQ_DATABASE": queue.path])
        #expect(
            await eventually {
                var waiting: Int32 = 0
                _ = ioctl(reader, UInt(FIONREAD), &waiting)
                return waiting > 45_000
            })
        shell.kill(SIGTERM)
        #expect(await shell.exit() == 128 + SIGTERM)
    }
}
