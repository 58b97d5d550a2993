import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Alerts for some screens")
struct ScreenChoiceTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func present() async throws -> (Child, PseudoTerminal) {
        let terminal = try PseudoTerminal(columns: 200)
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("showing alerts"))
        return (presenter, terminal)
    }

    @Test("An alert appears only where --on says, and show tells where that is")
    func appears() async throws {
        let (presenter, terminal) = try await present()
        let other = try await queue.run(
            "ask", "Elsewhere?", "--on", "dialog", "--on", "mine", "--detach")
        #expect(other.errors.contains("“dialog” or “mine”, but no process shows alerts there"))
        let here = try await queue.run("ask", "Here?", "--on", "terminal", "--detach")
        #expect(here.code == 0 && here.errors.isEmpty, "\(here)")
        #expect(await terminal.shows("Here?"))
        #expect(!terminal.text.contains("Elsewhere?"))
        #expect(try await queue.run("show", "1").output.contains("shown on       dialog, mine\n"))
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
    }

    @Test("A screen that may not show the alert is nobody, for --if-unattended")
    func unattended() async throws {
        let (presenter, _) = try await present()
        let words = ["ask", "Q?", "--if-unattended", "fail", "--on"]
        #expect(try await queue.start(words + ["dialog"]).finish().code == 14)
        let asker = try queue.start(words + ["terminal"])
        #expect(await eventually { (try? await queue.run("list", "--count").output) == "1\n" })
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(await asker.exit() == 0)
        let byDefault = try await queue.run(
            "ask", "Q?", "-b", "yes", "--cancel", "no", "--default", "no", "--timeout", "1h",
            "--if-unattended", "default", "--unattended-after", "100ms", "--on", "dialog")
        #expect(byDefault.code == 10 && byDefault.output == "no\n", "\(byDefault)")
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
    }

    @Test("An ask for another screen leaves its own terminal alone")
    func ownTerminal() async throws {
        let terminal = try PseudoTerminal(columns: 200)
        let asker = try queue.start(["ask", "Q?", "--on", "desktop"], on: terminal)
        #expect(await terminal.shows("answer with: alertq answer 1 OK"))
        #expect(await terminal.shows("a screen with “desktop”"))
        #expect(terminal.isInOrder)
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(await asker.exit() == 0)
    }

    @Test("An ask that joins an alert for another screen leaves its terminal and the slot alone")
    func joined() async throws {
        let words = ["ask", "Q?", "-b", "yes", "--key", "k"]
        let first = try await queue.start(words + ["--on", "dialog", "--detach"]).finish()
        #expect(first.code == 0)
        let terminal = try PseudoTerminal(columns: 200)
        let asker = try queue.start(words, on: terminal)
        #expect(await terminal.shows("answer with: alertq answer 1 yes"))
        let (presenter, other) = try await present()
        #expect(!other.text.contains("waiting for a turn"))
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await asker.exit() == 0)
    }

    @Test(
        "A name that is given twice, a blank one and too many are refused",
        arguments: [
            (["terminal", "terminal"], Int32(64), "--on terminal is given twice"),
            ([""], 65, "name of a presenter is empty"),
            ((1...17).map { "p\($0)" }, 65, "must be 1 to 16 names"),
        ])
    func refused(names: [String], code: Int32, reason: String) async throws {
        let words = ["notify", "N"] + names.flatMap { ["--on", $0] }
        let finished = try await queue.start(words).finish()
        #expect(finished.code == code && finished.errors.contains(reason), "\(finished)")
    }

    @Test("Asking again under a key says that other screens or a default can't be had")
    func key() async throws {
        let words = ["ask", "Q?", "-b", "yes", "--key", "k", "--detach"]
        #expect(try await queue.start(words).finish().code == 0)
        let other = try await queue.start(words + ["--on", "dialog"]).finish()
        #expect(other.code == 0 && other.errors.contains("--on is not in force, it is for any"))
        let late = try await queue.start(
            words + ["--default", "yes", "--timeout", "1h"]
        ).finish()
        #expect(late.code == 16 && late.output.isEmpty)
        #expect(late.errors.contains("alert 1 waits under this key without a default"))
        #expect(late.errors.contains("alertq withdraw 1 --database \(queue.path)"))
    }
}

@Suite("What stays on the terminal")
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
        #expect(await second.shows("(2 alerts wait; alerts are shown by "))
        #expect(second.text.contains("\(terminal.path); waiting for a turn)"))
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
