import AlertQueue
import Glibc

extension Resolution.Actor {
    /// Who acts by this process: a person if it reads from its terminal, in the foreground, else a
    /// program; see tcgetpgrp(3).
    ///
    /// It is a claim of the process, like its uid.
    static var thisProcess: Resolution.Actor {
        // tcgetpgrp(3) fails for a terminal that is not the controlling one.
        isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() ? .person : .program
    }
}

extension Resolution.Authority {
    /// The right of this process, over others' alerts too if the option `--force` was given.
    static func thisProcess(isForced: Bool) -> Resolution.Authority {
        isForced ? .forced(.thisProcess) : .own(.thisProcess)
    }
}

extension Option {
    static let force = Option("force", help: "Even if another account asked it")

    static let forceDiscussion = """
        Only the account that asked, and root, may do this. Any other is refused with 77, and the \
        message names the account that asked. With --force it may too; the record then says that \
        a person or a program of another account did it, by the rule of answer.
        """
}
