import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Alerts for some screens", .inParallel)
struct ScreenChoiceTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func present() async throws -> (Child, PseudoTerminal) {
        let terminal = try PseudoTerminal(columns: 200)
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("showing alerts"))
        // It says so before others can see it.
        #expect(
            try await eventually {
                try await !queue.run("doctor").output.contains("nobody shows alerts")
            })
        return (presenter, terminal)
    }

    @Test("An alert appears only where --on says, and show prints where that is")
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

    @Test("A screen that may not show the alert does not count for --if-unattended")
    func unattended() async throws {
        let (presenter, terminal) = try await present()
        let words = ["ask", "Q?", "--if-unattended", "fail", "--on"]
        #expect(try await queue.start(words + ["dialog"]).finish().code == 14)
        let asker = try queue.start(words + ["terminal"])
        #expect(await eventually { (try? await queue.run("list", "--count").output) == "1\n" })
        // A terminal that nobody refers to would hang up.
        #expect(await terminal.shows("Q?"))
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

    @Test("An ask that joins an alert for another screen attaches no screen")
    func joined() async throws {
        let words = ["ask", "Q?", "-b", "yes", "--key", "k"]
        let first = try await queue.start(words + ["--on", "dialog", "--detach"]).finish()
        #expect(first.code == 0)
        let terminal = try PseudoTerminal(columns: 200)
        let asker = try queue.start(words, on: terminal)
        #expect(await terminal.shows("answer with: alertq answer 1 yes"))
        let (presenter, other) = try await present()
        #expect(!other.text.contains("also shown by"))
        presenter.kill(SIGTERM)
        _ = await presenter.exit()
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await asker.exit() == 0)
    }

    @Test(
        "Repeated, blank and too many names are refused",
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

    @Test("Asking again under a key says that other screens or a default are not possible")
    func key() async throws {
        let words = ["ask", "Q?", "-b", "yes", "--key", "k", "--detach"]
        #expect(try await queue.start(words).finish().code == 0)
        let other = try await queue.start(words + ["--on", "dialog"]).finish()
        #expect(other.code == 0 && other.errors.contains("--on is ignored, because it is for any"))
        let late = try await queue.start(
            words + ["--default", "yes", "--timeout", "1h"]
        ).finish()
        #expect(late.code == 16 && late.output.isEmpty)
        #expect(late.errors.contains("alert 1 waits under this key without a default"))
        #expect(late.errors.contains("alertq withdraw 1 --database \(queue.path)"))
    }
}
