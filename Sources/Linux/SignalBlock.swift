import Glibc

/// Blocks signals in a thread for a moment; see pthread_sigmask(3).
package enum SignalBlock {
    /// Runs a closure with signals blocked, and discards a SIGPIPE that it caused.
    package static func run(_ signals: [Int32], _ body: () -> Void) {
        var set = sigset_t()
        var old = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, &old)
        body()
        var now = timespec()
        if signals.contains(SIGPIPE), sigismember(&old, SIGPIPE) == 0 {
            while sigtimedwait(&set, nil, &now) > 0 {}
        }
        pthread_sigmask(SIG_SETMASK, &old, nil)
    }
}
