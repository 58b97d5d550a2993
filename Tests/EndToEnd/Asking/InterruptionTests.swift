import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Interruption", .inParallel)
struct InterruptionTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private static let question = ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No"]

    /// An ask that waits for its answer.
    private func asking(_ options: String...) async throws -> Child {
        let asker = try queue.start(Self.question + options)
        #expect(await eventually { asker.errors.text.contains("answer with") })
        return asker
    }

    private func pending() async throws -> String { try await queue.run("list", "--count").output }

    @Test("A signal to the process and another one to its group leave no alert waiting")
    func twoSignals() async throws {
        // A busy machine, where the signals arrive one by one.
        let load = try (0..<4).map { _ in try Child("sh", ["-c", "while :; do :; done"]) }
        for round in 0..<3 {
            var askers: [Child] = []
            for _ in 0..<16 { askers.append(try await asking()) }
            for asker in askers {
                asker.kill(SIGTERM)
                usleep(UInt32(round) * 1500)
                kill(-asker.pid, SIGTERM)
            }
            for asker in askers { #expect(await asker.exit() == 128 + SIGTERM) }
        }
        withExtendedLifetime(load) {}
        #expect(try await pending() == "0\n")
        let outcomes = try await queue.objects("history", "--limit", "100")
            .map { $0["outcome"] as? String }
        #expect(outcomes == Array(repeating: "withdrawn", count: 48))
    }

    @Test("A signal before the alert is stored ends the ask at any moment, and leaves no alert")
    func early() async throws {
        // On a slow machine none of them gets as far as creating the queue.
        #expect(try await queue.run("ask", "First?", "--detach").code == 0)
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        for delay in 0..<40 {
            let asker = try queue.start(Self.question)
            usleep(UInt32(delay) * 500)
            asker.kill(SIGTERM)
            kill(-asker.pid, SIGTERM)
            #expect(await asker.exit() == 128 + SIGTERM)
        }
        #expect(try await pending() == "0\n")
    }

    @Test(
        "While a stopped process holds the lock, a signal ends an ask at once, and the alert stays",
        arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func heldLock(signal: Int32) async throws {
        let asker = try await asking()
        let holder = try await queue.lockHolder()
        let start = ContinuousClock.now
        asker.kill(signal)
        #expect(await asker.exit() == 128 + signal)
        // Far less than the five seconds for which others wait for the lock.
        #expect(ContinuousClock.now - start < .seconds(3))
        let errors = await asker.errors.complete()
        #expect(
            errors.contains(
                "alert 1 could not be withdrawn, because process \(holder.pid) (sleep), which is "
                    + "stopped, holds the queue's lock; it stays in the queue; to withdraw it: "
                    + "alertq withdraw 1 --database \(queue.path)"), "\(errors)")
        holder.kill(SIGKILL)
        _ = await holder.exit()
        #expect(try await pending() == "1\n")
        #expect(try await queue.run("withdraw", "1").code == 0)
    }

    @Test("A program that keeps the lock and writes nothing delays the end only for a moment")
    func runningHolder() async throws {
        let asker = try await asking()
        let holder = try await queue.lockHolder(isStopped: false)
        let start = ContinuousClock.now
        asker.kill(SIGINT)
        #expect(await asker.exit() == 128 + SIGINT)
        // A holder that writes is waited for longer than that.
        #expect(ContinuousClock.now - start < .seconds(2))
        let errors = await asker.errors.complete()
        let reason = "because process \(holder.pid) (sleep) holds the queue's lock; it stays"
        #expect(errors.contains(reason), "\(errors)")
    }

    @Test("A withdrawal waits for a lock that passes from process to process")
    func busyLock() async throws {
        var askers: [Child] = []
        for _ in 0..<6 { askers.append(try await asking()) }
        let lock = queue.path + "-lock"
        // Each holds it for less than a check takes, and another one always follows.
        let rivals = try (0..<3).map { _ in
            try Child("sh", ["-c", "while :; do flock \(lock) sleep 0.05; done"])
        }
        for asker in askers { asker.kill(SIGTERM) }
        for asker in askers { #expect(await asker.exit() == 128 + SIGTERM) }
        for rival in rivals {
            rival.kill(SIGKILL)
            _ = await rival.exit()
        }
        #expect(try await pending() == "0\n")
    }

    @Test("A signal while the first lock is awaited ends the ask, and nothing is stored")
    func beforeStored() async throws {
        #expect(try await queue.run("notify", "First").code == 0)
        let holder = try await queue.lockHolder()
        let asker = try queue.start(Self.question)
        // It waits for the lock from here on.
        #expect(
            await eventually {
                let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
                return locks?.contains("-> FLOCK  ADVISORY  WRITE \(asker.pid) ") == true
            })
        let start = ContinuousClock.now
        asker.kill(SIGTERM)
        #expect(await asker.exit() == 128 + SIGTERM)
        #expect(ContinuousClock.now - start < .seconds(3))
        let errors = await asker.errors.complete()
        #expect(errors.contains("ask: nothing was stored: "), "\(errors)")
        #expect(errors.contains("\(holder.pid) (sleep), which is stopped"), "\(errors)")
        holder.kill(SIGKILL)
        _ = await holder.exit()
        #expect(try await pending() == "1\n")
    }

    @Test(
        "While a stopped process holds the lock, a signal ends every verb that waits",
        arguments: [
            ["notify", "Done", "--wait"], ["ask", "Q?", "--key", "k"],
            ["collect", "first", "--wait-for", "1h"], ["present", "--on", "command:SHOW"],
            ["watch", "--exec", "true"],
        ])
    func verbs(words: [String]) async throws {
        let asked = try await queue.run("ask", "First?", "--key", "first", "--detach")
        #expect(asked.code == 0)
        let show = try queue.script("show", "echo >>\(queue.directory)/shown .; exec sleep 600")
        let waiting = try queue.start(words.map { $0 == "command:SHOW" ? "command:\(show)" : $0 })
        // By the time each of them waits, it has written something, or holds its lock.
        let handlers = queue.path + "-leases"
        #expect(
            try await eventually {
                if words[0] == "present" { return !queue.lines("shown").isEmpty }
                if words[0] == "watch" { return waiting.isWatchingFiles }
                if words[0] == "collect" {
                    return FileManager.default.fileExists(atPath: handlers)
                        && waiting.isWatchingFiles
                }
                return try await pending() == "2\n" && waiting.isWatchingFiles
            })
        let holder = try await queue.lockHolder()
        let start = ContinuousClock.now
        waiting.kill(SIGTERM)
        #expect(await waiting.exit() == 128 + SIGTERM)
        #expect(ContinuousClock.now - start < .seconds(3), "\(words)")
        holder.kill(SIGKILL)
        _ = await holder.exit()
    }

    @Test("An impatient second signal ends an ask at once, and says how to withdraw the alert")
    func impatient() async throws {
        let terminal = try PseudoTerminal()
        let asker = try queue.start(Self.question, on: terminal)
        #expect(await terminal.shows("Enter chooses"))
        // From here on the disk takes a minute for each commit.
        let tracer = try Child(
            "strace",
            ["-f", "-qq", "-o", queue.directory + "/trace", "-p", "\(asker.pid)"]
                + ["-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=60000000"])
        #expect(await eventually { Tool.isAttached(tracer.pid, to: asker.pid) })
        let start = ContinuousClock.now
        asker.kill(SIGINT)
        #expect(await eventually { !queue.lines("trace").isEmpty })
        // Echoes of the first signal change nothing, later ones end it.
        let words = "to withdraw it: alertq withdraw 1 --database \(queue.path)"
        let hasEnded = await eventually {
            asker.kill(SIGINT)
            return terminal.text.contains(words)
        }
        #expect(ContinuousClock.now - start >= .seconds(1))
        #expect(hasEnded, "\(terminal.text)")
        // The tracer would keep what it has delayed.
        tracer.kill(SIGKILL)
        _ = await tracer.exit()
        #expect(await asker.exit() == 128 + SIGINT)
        #expect(terminal.isInOrder)
    }
}
