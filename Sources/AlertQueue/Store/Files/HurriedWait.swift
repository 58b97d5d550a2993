/// Decides how long a process that was asked to end waits for the writer lock.
///
/// A lock that goes from one process to the next is worth its wait, however many processes there
/// are: on a busy machine dozens may withdraw their alerts at once. A lock that one process keeps
/// is not, least of all when that process is stopped.
struct HurriedWait {
    private static let whenStopped = Duration.milliseconds(200)
    private static let whenRunning = Duration.milliseconds(600)

    private let lockFile: String
    /// The holder since some time; one that can't be seen counts as always the same.
    private var holder: LinuxProcess?
    private var since: ContinuousClock.Instant?

    init(lockFile: String) {
        self.lockFile = lockFile
    }

    /// Looks at the lock, which somebody waits for; returns whether waiting on is of no use.
    mutating func isHopeless(at now: ContinuousClock.Instant = .now) -> Bool {
        let seen = FileLocks(path: lockFile)?.flockHolder()
        guard let since, seen == holder else {
            holder = seen
            self.since = now
            return false
        }
        return now - since >= (seen?.isStopped == true ? Self.whenStopped : Self.whenRunning)
    }

    /// Forgets what it has seen, because the wait is over.
    mutating func end() {
        since = nil
    }
}
