import Foundation
import Glibc
import ProcessTesting
import Synchronization
import TestSupport
import Testing

/// Processes that run hooks, killed at random times while alerts are answered.
@Suite("Killed hooks", .inParallel)
struct HookKillTests {
    @Test("In spite of kills, each response is handled, and never by two hooks at once")
    func killed() async throws {
        let queue = try CommandLineQueue()
        let count = FaultForm.count(short: 40, full: 500)
        let (log, hook) = (queue.directory + "/log", queue.directory + "/hook")
        // The directory is a lock, which only one program can hold at a time.
        let script = """
            #!/bin/sh
            busy=\(queue.directory)/busy.$ALERTQ_ALERT
            mkdir $busy || { echo "twice $ALERTQ_ALERT" >>\(log); exit 1; }
            sleep 0.0$((ALERTQ_ALERT % 4))
            echo "$ALERTQ_ALERT" >>\(log)
            rmdir $busy

            """
        try Data(script.utf8).write(to: URL(filePath: hook))
        chmod(hook, 0o755)
        // However the asking ends, the killing ends with it.
        let isOver = Atomic(false)
        let asking = Task {
            defer { isOver.store(true, ordering: .relaxed) }
            for _ in 0..<count {
                let asked = try await Self.store(
                    ["ask", "Q?", "-b", "yes", "--cancel", "no", "--detach"], in: queue)
                let id = String(asked.output.dropLast())
                _ = try await Self.store(["answer", id, "yes"], in: queue)
            }
        }
        defer { asking.cancel() }
        var kills = 0
        var random = TestRandom()
        while !isOver.load(ordering: .relaxed) {
            let watches = try (0..<2).map { _ in try queue.start(["watch", "--exec", hook]) }
            try await Task.sleep(for: .milliseconds(.random(in: 20...250, using: &random)))
            for watch in watches {
                watch.kill(SIGKILL)
                _ = await watch.exit()
                kills += 1
            }
        }
        try await asking.value
        #expect(
            try await queue.rows("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == [
                "\(count)"
            ])
        #expect(kills > 4)
        let last = try queue.start(["watch", "--exec", hook])
        let isCollected = try await eventually(within: .seconds(60)) {
            let left = "SELECT count(*) FROM alerts WHERE resolved_ms > 0 AND collected_ms IS NULL"
            return try await queue.rows(left) == ["0"]
        }
        last.kill(SIGTERM)
        #expect(await last.exit() == 128 + SIGTERM)
        #expect(isCollected)
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        FaultForm.report("\(kills) kills of hooks, \(count) responses, \(lines.count) runs")
        #expect(!lines.contains { $0.hasPrefix("twice") }, "\(lines.filter { $0.count > 5 })")
        #expect(Set(lines.compactMap { Int($0) }) == Set(1...count))
        #expect(try await queue.isSound())
    }

    /// Runs a verb until it is stored: a process that was killed holds its locks until it is gone,
    /// which takes seconds where many others wait for the same disk.
    private static func store(
        _ words: [String], in queue: CommandLineQueue
    ) async throws -> Finished {
        for _ in 1...20 {
            let finished = try await queue.start(words).finish()
            guard finished.code == 75 else {
                try #require(finished.code == 0, "\(finished)")
                return finished
            }
        }
        throw StillLocked()
    }

    private struct StillLocked: Error {}
}
