import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// How often an idle process wakes up.
@Suite("Wake-ups", .inParallel)
struct WakeUpTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// How often the threads of a process have gone to sleep or lost their processor.
    private func switches(of process: pid_t) -> Int {
        let tasks = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        return threads.reduce(0) { sum, thread in
            let status = try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
            let lines = (status ?? "").split(separator: "\n").filter {
                $0.contains("ctxt_switches:")
            }
            return sum + lines.compactMap { Int($0.split(separator: "\t")[1]) }.reduce(0, +)
        }
    }

    @Test(
        "The threads of a manager that waits wake up at most forty times a second",
        .alone(because: "On a busy machine, a thread that loses its processor counts, too."))
    func idle() async throws {
        let client = try await QueueClient(on: queue)
        let id = try #require(
            try await client.ask("ask", ["title": "Well?", "timeout": 3_600_000]).id)
        try client.send("wait", ["id": id, "tag": 1])
        // The first second after the start is not representative.
        try await Task.sleep(for: .seconds(2))
        let before = switches(of: client.process.pid)
        try await Task.sleep(for: .seconds(3))
        let count = switches(of: client.process.pid) - before
        #expect(count <= 120, "\(count) in three seconds")
        client.process.kill(SIGKILL)
        _ = await client.process.exit()
    }

    @Test("A closed manager does not spin while others ring the bell")
    func closed() async throws {
        let trace = queue.directory + "/trace"
        let client = try await QueueClient(
            on: queue,
            after: Tool.tracer
                + ["-f", "-qq", "-e", "trace=epoll_wait,epoll_pwait,read", "-o", trace])
        // A process for which the others ring.
        let watch = try queue.start(["watch"])
        let other = try await QueueClient(on: queue)
        _ = try await other.ask("ask", ["title": "Who hears?"])
        #expect(
            try await eventually {
                _ = try await other.ask("ask", ["title": "Who hears?"])
                return watch.output.text.split(separator: "\n").count >= 2
            })
        for round in 0..<3 {
            let id = try #require(try await client.ask("ask", ["title": "\(round)"]).id)
            try client.send("wait", ["id": id, "tag": round])
            _ = try await other.ask("answer", ["id": id, "button": "yes"])
            _ = try await client.reply(to: round)
            #expect(try await client.ask("close").error == nil)
            for number in 0..<200 { _ = try await other.ask("ask", ["title": "\(number)"]) }
            _ = try await client.ask("open", ["path": queue.path, "source": "client"])
        }
        #expect(await client.end() == 0)
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").count
        #expect(calls < 1000, "\(calls) calls")
        watch.kill(SIGTERM)
        _ = await watch.exit()
        _ = await other.end()
    }
}
