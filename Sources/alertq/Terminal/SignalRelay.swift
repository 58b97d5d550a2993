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

    /// The first signal that came before the command.
    var first: Int32? { state.withLock { $0.waiting.first } }

    /// From now on hands signals to a command, beginning with those that have come before it.
    func connect(to child: ChildProcess) {
        let waiting = state.withLock { state in
            state.child = child
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        for number in waiting { child.signal(number) }
    }

    /// - Parameter isFromKernel: Whether the terminal sent it to the whole process group, so that
    ///   the command has received it, too.
    func receive(_ number: Int32, isFromKernel: Bool) {
        let child = state.withLock { state in
            if state.child == nil, number != SIGTSTP { state.waiting.append(number) }
            return state.child
        }
        guard let child else { return }
        if !isFromKernel { child.signal(number) }
        guard number == SIGTSTP else { return }
        // The shell must see that the job has stopped. When it continues, both do.
        raise(SIGSTOP)
        child.signal(SIGCONT)
    }
}
