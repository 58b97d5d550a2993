import CLinux
import Glibc

/// A program to be started without any of our descriptors except those it is given, and without
/// our blocked signals; see posix_spawn(3).
package struct ProgramStart: Sendable {
    /// The target of one of a program's standard descriptors.
    package enum Stream: Sendable {
        /// The same as in this process.
        case inherited
        /// `/dev/null`: nothing to read, and output is discarded.
        case nothing
        case descriptor(Int32)
        /// A terminal, by its path; for the leader of a new session it becomes the controlling
        /// terminal.
        case terminal(String)
    }

    /// The signals that a terminal or a parent sends, and that programs may inherit as ignored.
    package static let commonSignals = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ, SIGCHLD,
    ]

    /// The program, looked up in `$PATH`, and its arguments.
    package let words: [String]
    /// The program's file, if it is not to be looked up.
    package var path: String?
    package let input: Stream
    package let output: Stream
    /// The target of standard error; the descriptors are set up in the order input, output, errors.
    package let errors: Stream
    /// The process group that it joins, 0 for a new one that it leads; `nil` for ours.
    package var group: pid_t?
    /// Whether it leads a new session; see setsid(2).
    package var leadsSession = false
    /// A descriptor that it keeps open, as its fourth.
    package var kept: Int32?
    /// Variables that its environment has in addition to ours, or instead of ours.
    package var variables: [(name: String, value: String)] = []
    /// Variables of ours that its environment lacks.
    package var removedVariables: [String] = []
    /// The signals that are reset to their defaults.
    package var signals = ProgramStart.commonSignals
    /// The signals that it has blocked: they wait for what it does about them.
    package var blocked: [Int32] = []

    package init(_ words: [String], input: Stream, output: Stream, errors: Stream) {
        self.words = words
        self.input = input
        self.output = output
        self.errors = errors
    }

    /// Starts it, and returns its process id.
    package func start() throws(LinuxError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [(Int32(0), input), (1, output), (2, errors)] {
            switch stream {
            case .inherited: break
            case .nothing:
                let access = number == 0 ? O_RDONLY : O_WRONLY
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", access, 0)
            case .descriptor(let source):
                posix_spawn_file_actions_adddup2(&actions, source, number)
            case .terminal(let path):
                posix_spawn_file_actions_addopen(&actions, number, path, O_RDWR, 0)
            }
        }
        if let kept { posix_spawn_file_actions_adddup2(&actions, kept, 3) }
        _ = clinux_spawn_close_from(&actions, kept == nil ? 3 : 4)
        return try start(&actions)
    }

    private func start(
        _ actions: inout posix_spawn_file_actions_t
    ) throws(LinuxError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (changed, mask) = (sigset_t(), sigset_t())
        sigemptyset(&changed)
        sigemptyset(&mask)
        for number in signals { sigaddset(&changed, number) }
        for number in blocked { sigaddset(&mask, number) }
        posix_spawnattr_setsigdefault(&attributes, &changed)
        // Threads of Dispatch block signals, and their children would inherit that.
        posix_spawnattr_setsigmask(&attributes, &mask)
        var flags = Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
        if let group {
            posix_spawnattr_setpgroup(&attributes, group)
            flags |= Int16(POSIX_SPAWN_SETPGROUP)
        }
        if leadsSession { flags |= Self.setSession }
        posix_spawnattr_setflags(&attributes, flags)
        return try start(&actions, &attributes)
    }

    /// POSIX_SPAWN_SETSID, which is hidden behind _GNU_SOURCE; its value is part of glibc's ABI.
    private static let setSession: Int16 = 0x80

    private func start(
        _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t
    ) throws(LinuxError) -> pid_t {
        let argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // The environment's own strings must not be freed.
        let own: [UnsafeMutablePointer<CChar>?] = variables.map {
            strdup("\($0.name)=\($0.value)")
        }
        defer { for pointer in argv + own { free(pointer) } }
        let names = variables.map(\.name) + removedVariables
        var environment: [UnsafeMutablePointer<CChar>?] = []
        var entry = environ
        while let variable = entry.pointee {
            let isOther = names.allSatisfy {
                strncmp(variable, $0 + "=", $0.utf8.count + 1) != 0
            }
            if isOther { environment.append(variable) }
            entry += 1
        }
        environment += own + [nil]
        var process = pid_t()
        let code = Self.patiently {
            posix_spawnp(&process, path ?? words[0], &actions, &attributes, argv, environment)
        }
        guard code == 0 else { throw LinuxError("start \(words[0])", code: code) }
        return process
    }

    /// Starts a program again, for up to 100 ms, while its file is open for writing.
    ///
    /// That is so for a moment after somebody has written it: a process that another thread has
    /// just forked still has the descriptor. See execve(2), ETXTBSY.
    static func patiently(
        pause: () -> Void = { usleep(10_000) }, _ start: () -> Int32
    ) -> Int32 {
        for _ in 0..<10 {
            let code = start()
            guard code == ETXTBSY else { return code }
            pause()
        }
        return start()
    }
}
