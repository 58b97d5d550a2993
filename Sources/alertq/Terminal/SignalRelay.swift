import Glibc
import Linux
import Synchronization

/// Hands the signals that this process receives on to a command that it runs.
final class SignalRelay: Sendable {
    private struct State {
        var child: ChildProcess?
        /// What came before the command.
        var waiting: [Int32] = []
    }

    private let state = Mutex(State())

    /// From now on hands signals to a command, beginning with those that have come before it.
    func connect(to child: ChildProcess) {
        let waiting = state.withLock { state in
            state.child = child
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        for number in waiting { child.signal(number) }
    }

    /// Hands a signal on, or keeps it until the command has started.
    ///
    /// - Returns: Whether the command has started.
    func receive(_ number: Int32, isFromKernel: Bool) -> Bool {
        let child = state.withLock { state in
            if state.child == nil, number != SIGTSTP { state.waiting.append(number) }
            return state.child
        }
        guard let child else { return false }
        // A key in the terminal signals the whole process group, and so the command, too. A
        // terminal that hangs up, and alarm(2), signal this process alone.
        let isSentToGroup = isFromKernel && [SIGINT, SIGQUIT, SIGTSTP].contains(number)
        if !isSentToGroup { child.signal(number) }
        if number == SIGTSTP {
            // The shell must see that the job has stopped. When it continues, both do.
            Program.suspend()
            child.signal(SIGCONT)
        }
        return true
    }
}
