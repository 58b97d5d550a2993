import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// What ends a job that Ctrl-Z has stopped, and that has not come back to the foreground.
@Suite("Stopped jobs", .inParallel)
struct SuspensionTests {
    let queue: CommandLineQueue
    private let terminal: PseudoTerminal
    private let shell: Child

    init() async throws {
        queue = try CommandLineQueue()
        terminal = try PseudoTerminal()
        shell = try await queue.shell(on: terminal)
    }

    /// Starts a command, waits for a text, and stops it.
    private func stop(_ command: String, at text: String) async throws {
        try terminal.type("$A \(command)\n")
        #expect(await terminal.shows(text))
        let count = terminal.bytes.count
        // What is typed while the alert is still being drawn is discarded.
        let hasStopped = try await eventually {
            try terminal.type("\u{1a}")
            try await Task.sleep(for: .milliseconds(200))
            return terminal.text(since: count).contains("Stopped")
        }
        #expect(hasStopped)
    }

    /// Starts a presenter, stops it, and continues it in the background.
    private func presentInBackground() async throws {
        #expect(try await queue.run("ask", "Prune?", "--detach").code == 0)
        try await stop("present", at: "Prune?")
        let count = terminal.bytes.count
        try terminal.type("bg\n")
        #expect(await terminal.shows("ready> ", since: count))
    }

    private func outcome() async throws -> String? {
        try await queue.objects("show", "1").first?["outcome"] as? String
    }

    /// The processes of this queue besides the shell.
    private var jobs: [pid_t] { queue.processes.filter { $0 != shell.pid } }

    @Test("A stopped ask that is terminated withdraws its alert, although it is in the background")
    func terminated() async throws {
        try await stop("ask 'Prune?'", at: "Cancel")
        try terminal.type("kill %1\n")
        #expect(try await eventually { try await outcome() == "withdrawn" })
        #expect(await eventually { jobs.isEmpty })
        shell.kill(SIGKILL)
    }

    @Test("A stopped ask whose terminal is closed withdraws its alert")
    func hungUp() async throws {
        try await stop("ask 'Prune?'", at: "Cancel")
        terminal.hangUp()
        #expect(try await eventually { try await outcome() == "withdrawn" })
        #expect(await eventually { queue.processes.isEmpty })
    }

    @Test("A stopped presenter that continues in the background ends at the first signal")
    func presenter() async throws {
        try await presentInBackground()
        let start = ContinuousClock.now
        try terminal.type("kill %1\n")
        #expect(await eventually { jobs.isEmpty })
        // If it did not react, its own limit of eight seconds would end it.
        #expect(ContinuousClock.now - start < .seconds(7))
        shell.kill(SIGKILL)
    }

    @Test("A job that is stopped again in the background comes back with fg")
    func stoppedAgain() async throws {
        try await presentInBackground()
        let job = try #require(jobs.first)
        var count = terminal.bytes.count
        kill(job, SIGTSTP)
        #expect(await eventually { queue.state(of: "\(job)") == "T" })
        // Until the shell has noticed that, fg does not continue the job.
        #expect(
            try await terminal.press("\n") { terminal.text(since: count).contains("Stopped") })
        count = terminal.bytes.count
        try terminal.type("fg\n")
        #expect(await terminal.shows("Prune?", since: count))
        shell.kill(SIGKILL)
    }
}
