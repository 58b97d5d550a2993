import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Processes that are stopped while they hold something that others need.
@Suite("Stuck processes", .inParallel)
struct StuckProcessTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func finding(_ check: String) async throws -> [String: any Sendable] {
        try #require(
            try await queue.objects("doctor").first { $0["check"] as? String == check })
    }

    @Test("doctor and every command that has to wait name the process that holds the lock")
    func lock() async throws {
        #expect(try await queue.run("ask", "Prune?", "--detach").code == 0)
        #expect(try await finding("lock")["ok"] as? Bool == true)
        for isStopped in [true, false] {
            let holder = try await queue.lockHolder(isStopped: isStopped)
            let name = "\(holder.pid) (sleep)" + (isStopped ? ", which is stopped" : "")
            let answer = try queue.start(["answer", "1", "OK"])
            let start = ContinuousClock.now
            let doctor = try await queue.run("doctor")
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(doctor.code == 75)
            #expect(doctor.output.contains("lock: process \(name)"), "\(doctor.output)")
            #expect(doctor.output.contains("kill -CONT \(holder.pid)") == isStopped)
            // Checks that need no lock are made all the same.
            #expect(doctor.output.contains("1 entry verifies"), "\(doctor.output)")
            let refused = await answer.finish()
            #expect(refused.code == 75)
            #expect(
                refused.errors.contains("locked by another process, \(name); waited 5 s"),
                "\(refused.errors)")
            holder.kill(SIGKILL)
            _ = await holder.exit()
        }
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await finding("lock")["ok"] as? Bool == true)
    }

    @Test(
        "doctor and a command that has to wait name a program that holds SQLite's lock",
        arguments: ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
    func transaction(begin: String) async throws {
        #expect(try await queue.run("ask", "Prune?", "--detach").code == 0)
        let script = """
            import sqlite3, sys, time
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute(sys.argv[2])
            print("held", flush=True)
            time.sleep(600)
            """
        let holder = try Child("python3", ["-c", script, queue.path, begin])
        #expect(await eventually { holder.output.text == "held\n" })
        let answer = try queue.start(["answer", "1", "OK"])
        let doctor = try await queue.run("doctor")
        let name = "\(holder.pid) (python3)"
        #expect(doctor.code == 75, "\(doctor)")
        #expect(doctor.output.contains("lock: process \(name)"), "\(doctor.output)")
        let refused = await answer.finish()
        #expect(refused.code == 75 && refused.errors.contains(name), "\(refused)")
        holder.kill(SIGKILL)
        _ = await holder.exit()
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await finding("lock")["ok"] as? Bool == true)
    }

    @Test("A new queue whose lock is held is reported, with the process that holds it")
    func newQueue() async throws {
        for name in ["queue.db", "queue.db-lock"] {
            _ = FileManager.default.createFile(
                atPath: queue.directory + "/" + name, contents: Data())
        }
        let holder = try await queue.lockHolder()
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 75)
        let name = "\(holder.pid) (sleep), which is stopped"
        #expect(doctor.output.contains("lock: process \(name)"))
        #expect(doctor.output.contains("database: "))
        let asked = try await queue.run("ask", "Q?", "--detach")
        #expect(asked.code == 75, "\(asked)")
        #expect(asked.errors.contains("the queue is locked by another process, \(name)"))
    }

    @Test("A stopped presenter does not count as attending until it resumes")
    func presenter() async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        #expect(try await queue.run("ask", "Prune?", "--detach").code == 0)
        #expect(await terminal.shows("Prune?"))
        #expect(try await state() == "presented")
        try await queue.stopWithoutLock(presenter)
        #expect(try await eventually { try await finding("presenter")["ok"] as? Bool == false })
        let detail = try await finding("presenter")["detail"] as? String ?? ""
        let screen = "on \(terminal.path), which has not responded for"
        #expect(detail.contains(screen))
        #expect(detail.contains("(process \(presenter.pid) is stopped)"), "\(detail)")
        #expect(try await queue.run("doctor").code == 75)
        #expect(try await state() == "queued")
        #expect(try await queue.run("list").errors.contains(screen))
        #expect(try await queue.run("ask", "Q?", "--if-unattended", "fail").code == 14)
        #expect(try await queue.run("notify", "N", "--if-unattended", "fail").code == 14)
        let asked = try await queue.run(
            "ask", "Reboot?", "-b", "yes", "--cancel", "no", "--default", "no", "--timeout", "1h",
            "--if-unattended", "default", "--unattended-after", "200ms")
        #expect(asked.code == 10 && asked.output == "no\n", "\(asked)")
        #expect(asked.errors.contains(screen) && asked.errors.contains("answer with: "))
        try await answerBeside()
        presenter.kill(SIGCONT)
        #expect(try await eventually { try await finding("presenter")["ok"] as? Bool == true })
        #expect(try await state() == "presented")
        let asker = try queue.start(["ask", "Again?", "--if-unattended", "fail"])
        #expect(try await eventually { try await queue.objects("list").count == 2 })
        #expect(try await queue.run("list").errors == "")
        for child in [asker, presenter] {
            child.kill(SIGTERM)
            #expect(await child.exit() == 128 + SIGTERM)
        }
    }

    /// An ask in a terminal of its own overtakes the stopped presenter, and is answered there.
    private func answerBeside() async throws {
        let terminal = try PseudoTerminal()
        let asker = try queue.start(["ask", "Here?", "-b", "yes", "--cancel", "no"], on: terminal)
        #expect(await terminal.shows("Enter chooses"))
        let isAnswered = try await terminal.press("y") { terminal.text.contains("✓ Here?") }
        #expect(isAnswered, "\(terminal.text)")
        #expect(await asker.exit() == 0)
    }

    private func state() async throws -> String? {
        try await queue.objects("show", "1").first?["state"] as? String
    }

    @Test("doctor finds the process that shows alerts even if its slot entry is gone")
    func silentHolder() async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("showing alerts"))
        #expect(
            try await eventually {
                try await finding("presenter")["detail"] as? String != "no process shows alerts"
            })
        // Otherwise it would soon write its entry again.
        presenter.kill(SIGSTOP)
        let slot = try FileHandle(forWritingTo: URL(filePath: queue.path + "-slot"))
        try slot.write(contentsOf: Data(count: 1024))
        try slot.close()
        let detail = try await finding("presenter")["detail"] as? String ?? ""
        #expect(detail.hasPrefix("process \(presenter.pid) (alertq-e2e-"), "\(detail)")
        presenter.kill(SIGCONT)
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
    }
}
