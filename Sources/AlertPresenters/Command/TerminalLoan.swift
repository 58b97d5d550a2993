import Glibc
import Linux

/// The terminal of this process, lent to a process group, and taken back with its modes when this
/// value goes out of scope.
///
/// Only a program in the foreground may read the keyboard; see tcsetpgrp(3).
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
    }

    private borrowing func lend(to group: pid_t) {
        let number = terminal.raw
        SignalBlock.run([SIGTTIN, SIGTTOU]) {
            TypedInput.discard(from: number)
            tcsetpgrp(number, group)
        }
    }
}
