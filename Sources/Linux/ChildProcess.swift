import Dispatch
import Glibc
import Synchronization

/// A running program that this process has started.
package final class ChildProcess: Sendable {
    private let pid: pid_t
    private let queue = DispatchQueue(label: "alertq.child")
    private let hasEnded = Mutex(false)

    /// Starts a program.
    package init(_ start: ProgramStart) throws(LinuxError) {
        pid = try start.start()
    }

    /// Whether it runs.
    package var isRunning: Bool { !hasEnded.withLock { $0 } }

    /// Waits for it to end; for a single caller.
    ///
    /// - Returns: `nil` if the status is not known, because this process ignores SIGCHLD.
    package func end() async -> WaitStatus? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                var info = siginfo_t()
                // Its number must not be reused for as long as it can be signalled.
                var isKnown = false
                repeat {
                    isKnown = waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0
                } while !isKnown && errno == EINTR
                let status = hasEnded.withLock { hasEnded in
                    hasEnded = true
                    return isKnown ? WaitStatus.reap(pid) : nil
                }
                continuation.resume(returning: status)
            }
        }
    }

    /// Sends it a signal; returns whether that was possible: it runs, and this process may signal
    /// it, which it may not after setuid(2).
    @discardableResult
    package func signal(_ number: Int32) -> Bool {
        hasEnded.withLock { hasEnded in !hasEnded && kill(pid, number) == 0 }
    }

    /// Sends a signal to the process group that it led when it was started, and to itself if it has
    /// left that; returns whether there was anyone.
    @discardableResult
    package func signalGroup(_ number: Int32) -> Bool {
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return false }
            let hasLeft = getpgid(pid) != pid && kill(pid, number) == 0
            return kill(-pid, number) == 0 || hasLeft
        }
    }
}
