import AlertCore
import Linux

/// Decides how long a process that was asked to end waits for the writer lock.
///
/// A lock that goes from one process to the next is worth its wait, however many processes there
/// are: on a busy machine dozens may withdraw their alerts at once. A lock that one process keeps
/// is not, least of all when that process is stopped.
struct ShutdownWait {
    /// How many looks in a row, a tenth of a second apart, must find the same holder. On a busy
    /// machine a process that commits again and again may well be found by a few of them.
    private static let looksAtStopped = 3
    private static let looksAtRunning = 20

    private let lockFile: String
    /// The last holder; one that can't be seen counts as always the same.
    private var holder: LinuxProcess?
    private var looks = 0

    init(lockFile: String) {
        self.lockFile = lockFile
    }

    /// Looks at the lock, which somebody waits for; returns whether waiting on is of no use.
    mutating func isHopeless() -> Bool {
        let seen = FileLocks(path: lockFile)?.flockHolder()
        looks = seen == holder ? looks + 1 : 1
        holder = seen
        return looks >= (seen?.isStopped == true ? Self.looksAtStopped : Self.looksAtRunning)
    }

    /// Forgets what it has seen, because the wait is over.
    mutating func end() {
        looks = 0
    }
}
