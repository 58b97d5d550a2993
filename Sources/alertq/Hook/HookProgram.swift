import AlertQueue
import CLinux
import Dispatch
import Glibc
import Synchronization

/// A program that is run for each response, with the response's JSON line on its stdin.
package struct HookProgram: Sendable {
    /// How a run ended.
    package enum End: Sendable, Hashable {
        case exited(Int32)
        case killed(Int32)
        case tookTooLong
        case notStarted(String)
    }

    /// What is given to one run.
    package struct Input: Sendable {
        /// What the program reads from its stdin.
        package var text: String
        package var variables: [(name: String, value: String)]
        /// A descriptor that the program keeps open, with the lock that belongs to it.
        package var kept: Int32?
    }

    package let words: [String]
    /// How long a run may take.
    package let limit: Duration
    /// Whether the program's stdout is ours, or else our stderr.
    package let sharesOutput: Bool
    /// The signals that this process watches, and that the program is to find as they were.
    package let signals: [Int32]

    /// What is wrong with the program; `nil` if it can be found and may be run.
    package static func problem(with program: String) -> String? {
        guard !program.isEmpty else { return "the program's name is empty" }
        let candidates: [String]
        if program.contains("/") {
            candidates = [program]
        } else {
            let path = Identity.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
            candidates = path.split(separator: ":").map { "\($0)/\(program)" }
        }
        for candidate in candidates {
            var status = stat()
            guard stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            if access(candidate, X_OK) == 0 { return nil }
            return "“\(candidate)” may not be executed"
        }
        return program.contains("/")
            ? "there is no program “\(program)”" : "there is no program “\(program)” in $PATH"
    }

    /// Runs the program to its end; when the task is cancelled, the program is asked to end too.
    package func run(_ input: Input) async -> End {
        let run: HookRun
        do {
            run = try HookRun(self, input)
        } catch {
            return .notStarted(error.description)
        }
        let watchdog = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return false }
            return await run.stop()
        }
        let end = await withTaskCancellationHandler {
            await run.end()
        } onCancel: {
            Task.detached { await run.stop() }
        }
        watchdog.cancel()
        return await watchdog.value ? .tookTooLong : end
    }
}

/// One run of a program, which leads a process group of its own.
private final class HookRun: Sendable {
    /// How long a program that was asked to end has for that.
    private static let grace = Duration.seconds(10)

    private let pid: pid_t
    private let queue = DispatchQueue(label: "alertq.hook")
    private let hasEnded = Mutex(false)

    /// Starts the program; see posix_spawn(3).
    init(_ program: HookProgram, _ input: HookProgram.Input) throws(CommandError) {
        let file = try Self.file(with: input.text)
        defer { close(file) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO)
        if !program.sharesOutput {
            posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        }
        // The lock lasts for as long as the program, whatever becomes of this process.
        if let kept = input.kept { posix_spawn_file_actions_adddup2(&actions, kept, 3) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, changed) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&changed)
        for number in program.signals + [SIGPIPE, SIGXFSZ] { sigaddset(&changed, number) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &changed)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        pid = try Self.spawn(program.words, input.variables, &actions, &attributes)
    }

    /// Waits for the program to end.
    func end() async -> HookProgram.End {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                var info = siginfo_t()
                // Nobody may take its number before it can't be signalled any more.
                while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                var status: Int32 = 0
                hasEnded.withLock { hasEnded in
                    hasEnded = true
                    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                }
                continuation.resume(
                    returning: clinux_signaled(status) != 0
                        ? .killed(clinux_term_signal(status))
                        : .exited(clinux_exit_status(status)))
            }
        }
    }

    /// Asks the program and its children to end, and ends them if they don't; returns whether they
    /// had to be asked.
    @discardableResult
    func stop() async -> Bool {
        guard signal(SIGTERM) else { return false }
        let limit = ContinuousClock.now + Self.grace
        while ContinuousClock.now < limit, !hasEnded.withLock({ $0 }) {
            // A cancelled sleep ends at once: by then the program has ended.
            try? await Task.sleep(for: .milliseconds(20))
        }
        signal(SIGKILL)
        return true
    }

    @discardableResult
    private func signal(_ number: Int32) -> Bool {
        hasEnded.withLock { hasEnded in !hasEnded && kill(-pid, number) == 0 }
    }

    /// A file without a name: unlike a pipe, it never waits for its reader; see memfd_create(2).
    private static func file(with text: String) throws(CommandError) -> Int32 {
        let descriptor = clinux_memory_file("alertq")
        guard descriptor >= 0 else { throw failure("make the program's input") }
        do {
            try Output.write(Array(text.utf8), to: descriptor)
        } catch {
            close(descriptor)
            throw CommandError(.inputOutput, error.description)
        }
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    private static func spawn(
        _ words: [String], _ variables: [(name: String, value: String)],
        _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t
    ) throws(CommandError) -> pid_t {
        let argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // The environment's own strings are not ours to free.
        let own: [UnsafeMutablePointer<CChar>?] = variables.map {
            strdup("\($0.name)=\($0.value)")
        }
        defer { for pointer in argv + own { free(pointer) } }
        var envp: [UnsafeMutablePointer<CChar>?] = []
        var place = environ
        while let variable = place.pointee {
            let isReplaced = variables.contains { name, _ in
                strncmp(variable, name + "=", name.utf8.count + 1) == 0
            }
            if !isReplaced { envp.append(variable) }
            place += 1
        }
        envp += own + [nil]
        var pid = pid_t()
        let code = posix_spawnp(&pid, words[0], &actions, &attributes, argv, envp)
        guard code == 0 else {
            errno = code
            throw failure("run \(words[0])")
        }
        return pid
    }

    private static func failure(_ operation: String) -> CommandError {
        CommandError(.inputOutput, "can't \(operation): \(String(cString: strerror(errno)))")
    }
}
