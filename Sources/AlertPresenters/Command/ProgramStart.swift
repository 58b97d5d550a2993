import CLinux
import Glibc

/// A program that is about to start in a process group, with no descriptor of ours but those that
/// it is given; see posix_spawn(3).
package struct ProgramStart {
    /// The signals that a terminal or a parent sends, and that programs may find ignored.
    package static let commonSignals = [
        SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ, SIGCHLD,
    ]

    /// The program, looked up in `$PATH`, and its arguments.
    package let words: [String]
    /// The group that it joins; 0 makes it the leader of one of its own.
    package var group: pid_t = 0
    package let input: Int32
    /// Where its output and its errors go; `nil` throws them away.
    package let output: Int32?
    package let errors: Int32?
    /// A descriptor that it keeps open, as its fourth.
    package var kept: Int32?
    /// What its environment has beside ours, or in the place of ours.
    package var variables: [(name: String, value: String)] = []
    /// The signals that it finds as if nobody had ignored them.
    package var signals = ProgramStart.commonSignals

    package init(_ words: [String], input: Int32, output: Int32?, errors: Int32?) {
        self.words = words
        self.input = input
        self.output = output
        self.errors = errors
    }

    /// Starts it, and returns its number.
    package func start() throws(ProgramError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        for (place, source) in [(Int32(1), output), (2, errors)] {
            if let source {
                posix_spawn_file_actions_adddup2(&actions, source, place)
            } else {
                posix_spawn_file_actions_addopen(&actions, place, "/dev/null", O_WRONLY, 0)
            }
        }
        if let kept { posix_spawn_file_actions_adddup2(&actions, kept, 3) }
        _ = clinux_spawn_close_from(&actions, kept == nil ? 3 : 4)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (changed, none) = (sigset_t(), sigset_t())
        sigemptyset(&changed)
        sigemptyset(&none)
        for number in signals { sigaddset(&changed, number) }
        posix_spawnattr_setsigdefault(&attributes, &changed)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, group)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        return try start(&actions, &attributes)
    }

    private func start(
        _ actions: inout posix_spawn_file_actions_t, _ attributes: inout posix_spawnattr_t
    ) throws(ProgramError) -> pid_t {
        let argv: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        // The environment's own strings are not ours to free.
        let own: [UnsafeMutablePointer<CChar>?] = variables.map {
            strdup("\($0.name)=\($0.value)")
        }
        defer { for pointer in argv + own { free(pointer) } }
        var environment: [UnsafeMutablePointer<CChar>?] = []
        var place = environ
        while let variable = place.pointee {
            let isReplaced = variables.contains { name, _ in
                strncmp(variable, name + "=", name.utf8.count + 1) == 0
            }
            if !isReplaced { environment.append(variable) }
            place += 1
        }
        environment += own + [nil]
        var process = pid_t()
        let code = posix_spawnp(&process, words[0], &actions, &attributes, argv, environment)
        guard code == 0 else { throw ProgramError("start \(words[0])", code: code) }
        return process
    }
}
