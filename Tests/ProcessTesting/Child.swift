import CLinux
import Foundation
import Glibc
import Synchronization

/// A user whom a process is to run as; no account of the machine needs to exist for it.
package struct Account: Sendable {
    package let uid: uid_t
    package let gid: gid_t

    package init(uid: uid_t, gid: gid_t) {
        (self.uid, self.gid) = (uid, gid)
    }
}

/// A real process with its own session, killed and reaped when it is no longer needed.
package final class Child: Sendable {
    package let pid: pid_t
    package let output: Collected
    package let errors: Collected
    private let status = Mutex<Int32?>(nil)

    /// Starts a program.
    ///
    /// With a terminal, standard input and standard error are that terminal, which becomes the
    /// process's controlling terminal; standard output stays a pipe, as in `answer=$(alertq ask
    /// …)`. Without one, standard input is the descriptor `input`, or empty.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        on terminal: PseudoTerminal? = nil, as account: Account? = nil, input: Int32? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let (out, err) = (Pipe(), Pipe())
        if let terminal {
            // The first terminal that a session leader opens becomes its controlling terminal.
            posix_spawn_file_actions_addopen(&actions, 0, terminal.path, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
        } else {
            if let input {
                posix_spawn_file_actions_adddup2(&actions, input, 0)
            } else {
                posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            }
            posix_spawn_file_actions_adddup2(
                &actions, err.fileHandleForWriting.fileDescriptor, 2)
        }
        posix_spawn_file_actions_adddup2(&actions, out.fileHandleForWriting.fileDescriptor, 1)
        // What the test runner has open is not the program's, whose limits may be tried.
        _ = clinux_spawn_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A thread of Dispatch blocks signals, and its children would go on doing so.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // POSIX_SPAWN_SETSID is hidden behind _GNU_SOURCE; its value is part of glibc's ABI.
        posix_spawnattr_setflags(&attributes, 0x80 | Int16(POSIX_SPAWN_SETSIGMASK))
        var words = [program] + arguments
        if let account {
            words =
                ["setpriv", "--reuid=\(account.uid)", "--regid=\(account.gid)", "--clear-groups"]
                + words
        }
        pid = try Self.spawn(words, environment, &actions, &attributes)
        try out.fileHandleForWriting.close()
        try err.fileHandleForWriting.close()
        output = Collected(out.fileHandleForReading)
        errors = Collected(err.fileHandleForReading)
    }

    deinit {
        kill(SIGKILL)
        _ = wait()
    }

    package func kill(_ signal: Int32) {
        // A process that was reaped has no pid any more that would be safe to signal.
        status.withLock { if $0 == nil { Glibc.kill(pid, signal) } }
    }

    /// Waits for the end: the exit code, or 128 and the signal as a shell has it.
    package func wait() -> Int32 {
        while true {
            if let known = poll() { return known }
            usleep(1000)
        }
    }

    /// Waits for the end for 20 seconds at most, without holding a thread.
    package func exit() async -> Int32? {
        await exit(within: .seconds(20))
    }

    /// Waits for the end, for as long as is given at most.
    package func exit(within bound: Duration) async -> Int32? {
        _ = await eventually(within: bound) { self.poll() != nil }
        return poll()
    }

    /// The exit code, or `nil` while it runs.
    package func poll() -> Int32? {
        status.withLock { status in
            if let status { return status }
            var raw: Int32 = 0
            guard waitpid(pid, &raw, WNOHANG) == pid else { return nil }
            let code =
                clinux_exited(raw) != 0
                ? clinux_exit_status(raw) : 128 + clinux_term_signal(raw)
            status = code
            return code
        }
    }

    private static func spawn(
        _ words: [String], _ environment: [String: String],
        _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t
    ) throws -> pid_t {
        var variables = ProcessInfo.processInfo.environment
        for name in ["ALERTQ_DATABASE", "ALERTQ_SOURCE", "NO_COLOR", "SSH_CONNECTION"] {
            variables[name] = nil
        }
        variables["TERM"] = "xterm"
        variables.merge(environment) { $1 }
        let argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let envp: [UnsafeMutablePointer<CChar>?] =
            variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var pid = pid_t()
        let code = posix_spawnp(&pid, words[0], &actions, &attributes, argv, envp)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        return pid
    }
}

/// What comes out of a descriptor, gathered as it comes.
package final class Collected: Sendable {
    private struct State {
        var data = Data()
        var isOver = false
        var isAbandoned = false
    }

    private let state = Mutex(State())

    /// Reads until the end; a terminal whose session ended (EIO) may come back with the next one.
    package init(_ handle: FileHandle, isTerminal: Bool = false) {
        let queue = DispatchQueue(label: "collect")
        queue.async { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                var descriptor = pollfd(
                    fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
                Glibc.poll(&descriptor, 1, 100)
                let isReadable = descriptor.revents != 0
                let count = isReadable ? read(handle.fileDescriptor, &buffer, buffer.count) : -1
                guard let self, !self.state.withLock({ $0.isAbandoned }) else { return }
                if count > 0 {
                    self.state.withLock { $0.data.append(contentsOf: buffer[..<count]) }
                } else if isReadable {
                    guard isTerminal else { return self.state.withLock { $0.isOver = true } }
                    usleep(2000)
                }
            }
        }
    }

    deinit {
        state.withLock { $0.isAbandoned = true }
    }

    package var data: Data { state.withLock { $0.data } }
    package var text: String { String(decoding: data, as: UTF8.self) }

    /// The line that begins at a byte, without its end; `nil` until it is complete.
    package func line(from start: Int) -> Data? {
        state.withLock { state in
            let rest = state.data[start...]
            return rest.firstIndex(of: UInt8(ascii: "\n")).map { Data(rest[..<$0]) }
        }
    }

    /// Everything, once the writer has closed its end.
    package func complete() async -> String {
        _ = await eventually { self.state.withLock { $0.isOver } }
        return text
    }
}

/// Waits until a condition holds, for 20 seconds at most unless said; returns whether it does.
package func eventually(
    within bound: Duration = .seconds(20), _ condition: @Sendable () async throws -> Bool
) async rethrows -> Bool {
    let limit = ContinuousClock.now + bound
    while ContinuousClock.now < limit {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return false
}
