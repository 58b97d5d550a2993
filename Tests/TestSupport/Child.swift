import Glibc
import Linux
import Synchronization
import Testing

/// A real process with its own session, which is killed and reaped when it is no longer needed.
package final class Child: Sendable {
    package let pid: pid_t
    package let output: Collected
    package let errors: Collected
    private let words: [String]
    private let status = Mutex<Int32?>(nil)

    /// A program may have ended when a test writes to it, and must not end the tests with it.
    package static let ignoresBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    /// Starts a program.
    ///
    /// With a terminal, standard input and standard error are that terminal, which becomes the
    /// process's controlling terminal; standard output stays a pipe, as in `answer=$(alertq ask
    /// …)`. Without one, standard input is the descriptor `input`, or empty.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        on terminal: PseudoTerminal? = nil, as account: LinuxAccount? = nil, input: Int32? = nil
    ) throws {
        let (out, err) = (try Pipe(), try Pipe())
        var words = [program] + arguments
        if let account {
            words =
                ["setpriv", "--reuid=\(account.uid)", "--regid=\(account.gid)", "--clear-groups"]
                + words
        }
        var start = ProgramStart(
            words,
            input: terminal.map { .terminal($0.path) } ?? input.map { .descriptor($0) } ?? .nothing,
            output: .descriptor(out.writing.raw),
            errors: .descriptor(terminal == nil ? err.writing.raw : STDIN_FILENO))
        start.leadsSession = true
        // Other signals that the test runner ignores stay ignored.
        start.signals = [SIGPIPE]
        _ = Self.ignoresBrokenPipes
        start.removedVariables = [
            "ALERTQ_DATABASE", "ALERTQ_SOURCE", "NO_COLOR", "SSH_CONNECTION",
        ]
        self.words = words
        let variables = ["TERM": "xterm"].merging(environment) { $1 }
        start.variables = variables.map { ($0.key, $0.value) }
        pid = try start.start()
        output = Collected(out.reading)
        errors = Collected(err.reading)
        Reaper.add(self)
    }

    deinit {
        killGroup()
        _ = wait()
    }

    package func kill(_ signal: Int32) {
        // The pid of a reaped process is no longer safe to signal.
        status.withLock { if $0 == nil { Glibc.kill(pid, signal) } }
    }

    /// Kills it together with what it has started, as long as that is in its process group: such
    /// processes would keep its output open, and the machine busy for the tests that follow.
    private func killGroup() {
        status.withLock { if $0 == nil { Glibc.kill(-pid, SIGKILL) } }
    }

    /// Waits for the end: the exit code, or 128 plus the signal, as in a shell.
    package func wait() -> Int32 {
        while true {
            if let known = poll() { return known }
            usleep(1000)
        }
    }

    /// Waits for the end for at most three minutes by default, without blocking a thread.
    package func exit(within bound: Duration = .seconds(180)) async -> Int32? {
        _ = await eventually(within: bound) { self.poll() != nil }
        return poll()
    }

    /// The exit code, or `nil` while it runs.
    package func poll() -> Int32? {
        status.withLock { status in
            if status == nil { status = WaitStatus.reap(pid, WNOHANG)?.shellCode }
            return status
        }
    }

    /// Waits for its end, for at most three minutes by default, and for all its output; a process that
    /// takes longer is killed, has no code, and fails the test.
    package func finish(within bound: Duration = .seconds(180)) async -> Finished {
        let code = await exit(within: bound)
        if code == nil {
            let told = errors.text.suffix(1000)
            Issue.record("\(words) has not ended within \(bound); its errors: \(told)")
            killGroup()
        }
        return Finished(
            code: code, output: await output.complete(), errors: await errors.complete())
    }

    /// Runs a program to its end.
    ///
    /// - Parameter input: The contents of its standard input.
    package static func run(_ words: String..., input: [UInt8] = []) async throws -> Finished {
        let file = try Descriptor.holding(input, name: "input")
        return try await Child(words[0], Array(words.dropFirst()), input: file.raw).finish()
    }

    /// Stops it, and returns when it is stopped; see proc(5).
    package func stop() async throws {
        kill(SIGSTOP)
        guard await eventually({ LinuxProcess(pid: pid).isStopped }) else {
            throw TestingError("process \(pid) does not stop")
        }
    }
}

extension Child {
    /// Whether all threads sleep, and so have finished with what had reached the process before.
    package var isAsleep: Bool {
        let states = threadStates
        // None has run in between, so that all of them sleep at the same moment.
        return states == threadStates && states.allSatisfy { $0.contains("State:\tS") }
    }

    /// What each thread does, and how often it has gone to sleep; see proc_pid_status(5).
    private var threadStates: [String] {
        let tasks = "/proc/\(pid)/task"
        return LinuxFile.names(in: tasks).filter { Int32($0) != nil }.sorted()
            .map { LinuxFile.whole("\(tasks)/\($0)/status") }
    }
}
