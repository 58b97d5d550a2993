import Glibc
import Linux
import Synchronization

/// Lines for the terminal that wait while a program has it, whose screen they would spoil.
package enum LentTerminal {
    private struct State {
        var isLent = false
        var lines: [@Sendable () -> Void] = []
    }

    private static let state = Mutex(State())
    /// More than fit on a screen; of a longer wait, the last ones are kept.
    private static let limit = 100

    /// Writes a line at once, or as soon as no program has the terminal.
    package static func afterwards(_ write: @escaping @Sendable () -> Void) {
        let mustWait = state.withLock { state in
            if state.isLent { state.lines = (state.lines + [write]).suffix(limit) }
            return state.isLent
        }
        if !mustWait { write() }
    }

    fileprivate static func lend() { state.withLock { $0.isLent = true } }

    fileprivate static func takeBack() {
        let lines = state.withLock { state in
            defer { state = State() }
            return state.lines
        }
        for write in lines { write() }
    }
}

/// The terminal of this process, lent to a process group, and taken back with its modes when this
/// value goes out of scope.
///
/// Only a program in the foreground may read the keyboard; see tcsetpgrp(3). At most one loan is
/// made at a time: one presenter of a process may use its terminal.
struct TerminalLoan: ~Copyable {
    private let terminal: Descriptor
    private let modes: termios

    /// Lends the terminal, and discards what was typed before the alert appeared; `nil` where there
    /// is no terminal, or where it belongs to another job.
    init?(to group: pid_t) {
        guard
            let terminal = try? Descriptor(
                open("/dev/tty", O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), "open the terminal"),
            tcgetpgrp(terminal.raw) == getpgrp()
        else { return nil }
        var modes = termios()
        tcgetattr(terminal.raw, &modes)
        self.modes = modes
        self.terminal = terminal
        LentTerminal.lend()
        lend(to: group)
    }

    deinit {
        let (number, modes) = (terminal.raw, modes)
        // From the background, both calls would stop this job.
        SignalBlock.run([SIGTTOU]) {
            tcsetpgrp(number, getpgrp())
            var modes = modes
            // TCSANOW doesn't wait for the output, which a stopped terminal would never take.
            tcsetattr(number, TCSANOW, &modes)
        }
        LentTerminal.takeBack()
    }

    private borrowing func lend(to group: pid_t) {
        let number = terminal.raw
        SignalBlock.run([SIGTTIN, SIGTTOU]) {
            TypedInput.discard(from: number)
            tcsetpgrp(number, group)
        }
    }
}
