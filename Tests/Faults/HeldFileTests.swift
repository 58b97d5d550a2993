import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// Files that other processes hold, or that can't be written for a while.
@Suite("Held files", .inParallel)
struct HeldFileTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    @Test("While a stopped process holds the lock, writers fail, and they succeed after it dies")
    func stoppedWriter() async throws {
        #expect(try await queue.run("ask", "First", "--detach").code == 0)
        let holder = try Child("flock", ["-F", queue.path + "-lock", "sleep", "600"])
        #expect(
            try await eventually {
                try Child("flock", ["-n", queue.path + "-lock", "true"]).wait() == 1
            })
        holder.kill(SIGSTOP)
        // All at the same time, so that the test waits for the busy time only once.
        let writers = try [
            ["ask", "Second", "--detach"], ["answer", "1", "OK"], ["withdraw", "1"],
        ]
        .map { try queue.start($0) }
        // Reading needs no lock.
        #expect(try await queue.objects("list").count == 1)
        try await expectNoSpinning(writers[0].pid)
        for writer in writers {
            let finished = await writer.finish()
            #expect(finished.code == 75)
            #expect(finished.errors.contains("locked by another process"), "\(finished.errors)")
        }
        holder.kill(SIGKILL)
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await queue.faults() == [])
    }

    @Test("A stopped presenter blocks no answer, loses the lead, and follows when it continues")
    func stoppedPresenter() async throws {
        let (first, second) = try (PseudoTerminal(), PseudoTerminal())
        let holder = try queue.start(["present"], on: first)
        #expect(await first.shows("showing alerts"))
        #expect(
            try await eventually {
                try await queue.run("doctor").output.contains("alerts are shown by")
            })
        holder.kill(SIGSTOP)
        let other = try queue.start(["present"], on: second)
        let asker = try queue.start(["ask", "Well?", "-b", "yes", "--cancel", "no"])
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(await asker.exit() == 0)
        try await expectNoSpinning(other.pid)
        #expect(try await queue.run("ask", "Again?", "--detach").code == 0)
        #expect(await second.shows("Again?"))
        holder.kill(SIGCONT)
        #expect(try await queue.run("ask", "And now?", "--detach").code == 0)
        // It follows: the other one still leads.
        #expect(
            try await eventually {
                try await queue.run("doctor").output.contains("on \(second.path)")
            })
        #expect(try await queue.run("answer", "2", "OK").code == 0)
        #expect(await second.shows("And now?"))
        #expect(await first.shows("And now?"))
        other.kill(SIGKILL)
        #expect(
            try await eventually {
                try await queue.run("doctor").output.contains("on \(first.path)")
            })
        #expect(try await queue.run("answer", "3", "OK").code == 0)
        #expect(await first.shows("And now? — answered “OK”"))
        holder.kill(SIGKILL)
    }

    @Test("While nothing can be written, errors are clear and nothing spins; then writes succeed")
    func readOnlyForAWhile() async throws {
        let client = try await QueueClient(on: queue)
        #expect(try await client.ask("ask", ["title": "Before"]).id == 1)
        // An expiry that is due and can't be stored could make the process spin. The tracer needs
        // some of the time until then on a busy machine.
        let due = ContinuousClock.now + .seconds(8)
        #expect(try await client.ask("ask", ["title": "Due", "timeout": 8000]).id == 2)
        try client.send("wait", ["id": 2, "tag": 1])
        // The connection for reading is open from here on: opening it needs a sync.
        #expect(try await client.ask("list").error == nil)
        let tracer = try Child(
            "strace",
            ["-f", "-qq", "-o", "/dev/null", "-p", "\(client.process.pid)"]
                + ["", "-wal", "-shm", "-lock", "-bell", "-reserve"].flatMap {
                    ["-P", queue.path + $0]
                } + ["-e", "inject=pwrite64,write,ftruncate,fallocate,fdatasync:error=EROFS"])
        #expect(await eventually { Tool.isAttached(tracer.pid, to: client.process.pid) })
        for _ in 0..<3 {
            let refused = try await client.ask("ask", ["title": "During"])
            #expect(refused.error == "storage", "\(refused)")
        }
        #expect(try await client.ask("answer", ["id": 1, "button": "yes"]).error == "storage")
        #expect(try await client.ask("list").error == nil)
        try await Task.sleep(until: due)
        try await expectNoSpinning(client.process.pid)
        tracer.kill(SIGTERM)
        #expect(await tracer.exit() != nil)
        // The call that waited has the expiry, or the error if writing failed for five seconds.
        let end = try await client.reply(to: 1)
        #expect(end.text("outcome") == "expired" || end.error == "storage", "\(end)")
        #expect(
            try await eventually {
                try await client.ask("record", ["id": 2]).text("outcome") == "expired"
            })
        #expect(try await client.ask("answer", ["id": 1, "button": "yes"]).error == nil)
        #expect(try await client.ask("ask", ["title": "After"]).error == nil)
        #expect(try await queue.faults() == [])
    }

    @Test(
        "What is removed while a process opens the queue takes no acknowledged alert with it",
        .enabled(if: Tool.hasTracer, "strace is not installed"),
        arguments: [false, true])
    func removedLog(isThereBefore: Bool) async throws {
        #expect(try await queue.run("notify", "First").output == "1\n")
        let remove = { for ending in ["-wal", "-shm"] { unlink(queue.path + ending) } }
        if !isThereBefore { remove() }
        // It is held when SQLite has opened the log and the shared memory, until the tracer dies.
        let memory = queue.path + "-shm"
        let tracer = try queue.start(
            ["notify", "Second"],
            under: Tool.tracer + ["-f", "-qq", "-o", "/dev/null", "-P", memory]
                + ["-e", "trace=openat", "-e", "inject=openat:delay_exit=600000000"])
        #expect(await eventually { Self.childHasOpen(memory, of: tracer.pid) })
        // What a restore does to them under the lock.
        remove()
        #expect(try await queue.run("notify", "Third").output == "2\n")
        tracer.kill(SIGKILL)
        let second = await tracer.finish()
        #expect(second.output == "3\n", "\(second)")
        #expect(try await queue.rows("SELECT title FROM alerts") == ["First", "Third", "Second"])
        #expect(try await queue.isSound())
    }

    /// Whether the child of a process has a file open.
    private static func childHasOpen(_ path: String, of parent: pid_t) -> Bool {
        let children = LinuxFile.whole("/proc/\(parent)/task/\(parent)/children")
        return children.split(separator: " ").contains { child in
            LinuxFile.names(in: "/proc/\(child)/fd").contains {
                LinuxFile.link("/proc/\(child)/fd/\($0)") == path
            }
        }
    }

    @Test(
        "A file system mounted read-only is reported, and writable again after a remount",
        .enabled(if: geteuid() == 0, "only root can mount"))
    func readOnlyMount() async throws {
        let disk = try await SmallDisk(at: queue.directory, size: "32m")
        defer { _ = disk }
        #expect(try await queue.run("ask", "First", "--detach").code == 0)
        try await disk.remount("ro")
        for verb in [["ask", "Q", "--detach"], ["answer", "1", "OK"], ["doctor"]] {
            let finished = try await queue.start(verb).finish()
            #expect(finished.code == 74, "\(verb): \(finished)")
            let text = finished.errors + finished.output
            #expect(text.lowercased().contains("read-only"), "\(verb): \(text)")
        }
        let list = try await queue.run("list")
        #expect(list.code == 0 && list.output.contains("First"), "\(list)")
        #expect(list.errors.isEmpty)
        try await disk.remount("rw")
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await queue.faults() == [])
    }
}
