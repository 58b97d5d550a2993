import AlertCore
import Linux

/// Decides how long a process that was asked to end waits for the writer lock.
///
/// A lock that passes from one process to the next is worth waiting for, no matter how many
/// processes there are: on a busy machine dozens may withdraw their alerts at once. A lock that one
/// process keeps holding is not, least of all if that process is stopped.
struct ShutdownWait {
    /// How many consecutive checks, a tenth of a second apart, must find the same holder. On a busy
    /// machine a process that commits again and again may well be found by several of them.
    private static let looksAtStopped = 3
    private static let looksAtRunning = 20

    private let lockFile: String
    /// The last holder; one that can't be seen counts as always the same.
    private var holder: LinuxProcess?
    private var looks = 0

    init(lockFile: String) {
        self.lockFile = lockFile
    }

    /// Checks the lock, which some caller waits for; returns whether it is useless to wait on.
    mutating func isHopeless() -> Bool {
        let seen = FileLocks(path: lockFile)?.flockHolder()
        looks = seen == holder ? looks + 1 : 1
        holder = seen
        return looks >= (seen?.isStopped == true ? Self.looksAtStopped : Self.looksAtRunning)
    }

    /// Forgets earlier checks, because the wait is over.
    mutating func end() {
        looks = 0
    }
}
