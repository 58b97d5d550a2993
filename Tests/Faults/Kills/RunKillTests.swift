import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// SIGKILL of `alertq run` at every call that changes the disk, and at random moments: an answer
/// runs its command at most once, and never without an entry in the log.
@Suite("Killed runs", .inParallel, .enabled(if: Tool.hasTracer, "needs strace"))
struct RunKillTests {
    /// The same words in every queue, so that a run finds its alert.
    private static let words = [
        "run", "--wait-for", "50ms", "--", "sh", "-c", "echo ran >>\"$OUT\"",
    ]

    /// What a queue and its command's output say.
    private struct Facts: Equatable {
        /// How often the command ran, according to what it wrote.
        var runs = 0
        /// How often its start was logged, and its end.
        var starts = 0
        var ends = 0
    }

    private func start(
        _ words: [String] = words, in queue: CommandLineQueue, under wrapper: [String] = []
    ) throws -> Child {
        try queue.start(words, under: wrapper, environment: ["OUT": queue.directory + "/out"])
    }

    private func facts(_ queue: CommandLineQueue) async throws -> Facts {
        let text = (try? String(contentsOfFile: queue.directory + "/out", encoding: .utf8)) ?? ""
        let rows = try await queue.rows(
            "SELECT coalesce(detail ->> 'started', 0) FROM audit WHERE event = 'ran'")
        return Facts(
            runs: text.split(separator: "\n").count, starts: rows.count { $0 == "1" },
            ends: rows.count { $0 != "1" })
    }

    /// A queue in which the question has a yes that nothing has used.
    private func answered() async throws -> CommandLineQueue {
        let queue = try CommandLineQueue()
        try #require(await start(in: queue).exit() == 125)
        try #require(try await queue.run("answer", "1", "run").code == 0)
        return queue
    }

    /// Checks a queue after a kill, and again after the command line was repeated.
    private func check(_ queue: CommandLineQueue, _ moment: String) async throws {
        // The command of a killed run may still be running.
        _ = await eventually(within: .seconds(2)) {
            let facts = try? await facts(queue)
            return facts?.runs == facts?.starts
        }
        let first = try await facts(queue)
        #expect(first.runs <= first.starts && first.starts <= 1, "\(moment): \(first)")
        let again = try await start(in: queue).finish()
        let last = try await facts(queue)
        #expect(again.code == (first.starts == 0 ? 0 : 125), "\(moment): \(again)")
        #expect(last.starts == 1 && last.runs == (first.starts == 0 ? 1 : first.runs), "\(moment)")
        #expect(try await queue.isSound(), "\(moment)")
    }

    @Test("A run that is killed at any call on the queue runs its command at most once")
    func calls() async throws {
        let start = try await answered()
        let queue = try CommandLineQueue(copyOf: start.directory)
        let calls = try await FaultPoint.calls(FaultPoint.changes, in: queue) { wrapper in
            let child = try self.start(in: queue, under: wrapper)
            #expect(await child.exit() == 0)
        }
        #expect(try await facts(queue) == Facts(runs: 1, starts: 1, ends: 1))
        try await each(of: calls.points, lanes: 2) { point in
            for number in 1...200 {
                let queue = try CommandLineQueue(copyOf: start.directory)
                let log = queue.directory + ".strace"
                defer { unlink(log) }
                let code = try await self.start(
                    in: queue, under: point.wrapper(.kill, at: number, in: queue, log: log)
                ).exit()
                guard code == 128 + SIGKILL else { return }
                try await check(queue, "\(point.call) \(number) of \(point.name ?? "any file")")
            }
            Issue.record("it never ended by itself at \(point)")
        }
    }

    @Test(
        "A run that can't write the log runs nothing, and says why",
        arguments: ["pwrite64", "fdatasync"], [FaultPoint.Effect.inputOutput, .full])
    func unwritable(call: String, effect: FaultPoint.Effect) async throws {
        let queue = try await answered()
        let log = queue.directory + ".strace"
        defer { unlink(log) }
        let point = FaultPoint(call: call, name: "queue.db-wal")
        let end = try await start(
            in: queue, under: point.wrapper(effect, at: 1, forEver: true, in: queue, log: log)
        ).finish()
        #expect(end.code == 125 && end.errors.contains("run: not run: "), "\(end)")
        #expect(try await facts(queue).runs == 0)
        try await check(queue, "after \(effect) at each \(call)")
    }

    @Test("A run that is killed at random moments runs its command at most once")
    func moments() async throws {
        var random = TestRandom()
        let start = try await answered()
        var kills = 0
        for _ in 0..<(FaultForm.isFull ? 1000 : 30) {
            let queue = try CommandLineQueue(copyOf: start.directory)
            let child = try self.start(in: queue)
            let delay = Int.random(in: 0...60_000, using: &random)
            try await Task.sleep(for: .microseconds(delay))
            child.kill(SIGKILL)
            if await child.exit() == 128 + SIGKILL { kills += 1 }
            try await check(queue, "after \(delay) µs")
        }
        FaultForm.report("run: \(kills) kills")
    }
}
