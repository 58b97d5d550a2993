import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Hooks are killed at random while people answer.
@Suite("Killed hooks", .inParallel)
struct HookKillTests {
    @Test("No response is lost, none is worked on by two programs at once, and in the end all are")
    func killed() async throws {
        let queue = try CommandLineQueue()
        let count = FaultForm.count(short: 40, full: 500)
        let (log, hook) = (queue.directory + "/log", queue.directory + "/hook")
        // The directory is a lock that only one program can hold at a time.
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
        let asking = Task {
            for _ in 0..<count {
                let asked = try await queue.run(
                    "ask", "Q?", "-b", "yes", "--cancel", "no", "--detach")
                _ = try await queue.run("answer", String(asked.output.dropLast()), "yes")
            }
        }
        var kills = 0
        var random = TestRandom()
        var isAnswered = false
        let done = Task {
            try await asking.value
            return true
        }
        while !isAnswered, kills < 10_000 {
            let watches = try (0..<2).map { _ in try queue.start(["watch", "--exec", hook]) }
            try await Task.sleep(for: .milliseconds(.random(in: 20...250, using: &random)))
            for watch in watches {
                watch.kill(SIGKILL)
                _ = await watch.exit()
                kills += 1
            }
            isAnswered = try await queue.rows("SELECT count(*) FROM responses") == ["\(count)"]
        }
        #expect(try await done.value && kills > 4)
        let last = try queue.start(["watch", "--exec", hook])
        let isCollected = try await eventually(within: .seconds(60)) {
            let left = "SELECT count(*) FROM responses WHERE collected_ms IS NULL"
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
}
