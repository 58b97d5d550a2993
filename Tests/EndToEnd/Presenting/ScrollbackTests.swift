import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("What stays on the terminal", .inParallel)
struct ScrollbackTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("present begins with one line: where it shows alerts, of which queue, how many wait")
    func start() async throws {
        for title in ["One", "Two"] { _ = try await queue.run("ask", title, "--detach") }
        let terminal = try PseudoTerminal(columns: 300)
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("One"))
        let lines = terminal.text.split(separator: "alertq: ")
        #expect(lines.count == 1)
        let line = "showing alerts in this terminal, of \(queue.path) (2 alerts wait); Ctrl-C stops"
        #expect(lines[0].hasPrefix(line), "\(lines)")
        let second = try PseudoTerminal(columns: 300)
        let other = try queue.start(["present"], on: second)
        #expect(await second.shows("(2 alerts wait; also shown by "))
        #expect(second.text.contains("\(terminal.path)); Ctrl-C"))
        for child in [presenter, other] {
            child.kill(SIGTERM)
            _ = await child.exit()
        }
    }

    @Test("A snooze leaves a line with its end, and says when the deadline comes before that")
    func snoozed() async throws {
        for words in [["Late?", "--timeout", "2m"], ["Well?"]] {
            #expect(try await queue.start(["ask", "--detach"] + words).finish().code == 0)
        }
        let terminal = try PseudoTerminal(columns: 200)
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("Esc lets it expire"))
        #expect(
            try await terminal.press("q") { terminal.text.contains("• Late? — snoozed until ") })
        #expect(terminal.text.contains(", but it expires at "))
        #expect(
            try await terminal.press("q") { terminal.text.contains("• Well? — snoozed until ") })
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        let list = try await queue.run("list").output.split(separator: "\n")
        #expect(list.count { $0.contains(", expires first\t") } == 1)
        let snoozed = try await queue.runInTerminal("snooze", "1", "--for", "1h")
        #expect(snoozed.errors.contains(", but it expires at "))
        let other = try await queue.runInTerminal("snooze", "2", "--for", "1h")
        #expect(other.code == 0 && !other.errors.contains("expires"))
    }

    @Test("A notice leaves its message, in which nothing can move the cursor")
    func notice() async throws {
        let message = "40 GB\n\u{1B}[2Jgone\n" + (1...20).map { "line \($0)\n" }.joined()
        let notified = try await queue.run(
            "notify", "Backup finished", "-m", message, "--dismiss-after", "20ms")
        #expect(notified.code == 0)
        let terminal = try PseudoTerminal(columns: 60)
        let presenter = try queue.start(["present", "--once"], on: terminal)
        #expect(await presenter.exit() == 0)
        let left = try #require(terminal.text.firstMatch(of: /(?s)• Backup finished — .*/)).0
        let lines = left.split(whereSeparator: \.isNewline).map { $0.filter { $0 != "\r" } }
        #expect(lines.count >= 13 && lines[1] == "  40 GB" && lines[2] == "  ␛[2Jgone", "\(lines)")
        #expect(lines[11] == "  line 9" && lines[12] == "  … 12 more lines", "\(lines)")
    }
}
