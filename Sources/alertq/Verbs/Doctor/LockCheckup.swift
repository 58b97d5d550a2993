import AlertQueue
import Linux
import SQLiteStore

/// The check of `alertq doctor` of whether a process keeps others from writing.
struct LockCheckup: Sendable {
    private static let check = "lock"
    /// How many looks, a tenth of a second apart, must find the same process with the lock before
    /// it counts as one that holds it for long.
    private static let looksAtStopped = 3
    private static let looksAtRunning = 20

    let path: String

    func finding() async -> Finding {
        guard let holder = await keeper() else {
            return Finding(check: Self.check, detail: "no process keeps others from writing")
        }
        guard !QueueLocks(database: path).isWriterRewriting else {
            return Finding(
                check: Self.check,
                detail: holder.subject + " rewrites the database for a purge; meanwhile, what is "
                    + "asked or answered waits",
                isNote: true)
        }
        let waking = holder.isStopped ? "resume it: kill -CONT \(holder.pid); or " : ""
        let force = holder.isStopped ? "-KILL " : ""
        return Finding(
            check: Self.check,
            problem: holder.subject + " holds the lock that every write needs: nothing can be "
                + "asked, answered or withdrawn",
            advice: "\(waking)end it: kill \(force)\(holder.pid); what it had not finished is "
                + "undone",
            code: .busy)
    }

    /// The process that has held the lock for longer than a write takes.
    private func keeper() async -> LinuxProcess? {
        let locks = QueueLocks(database: path)
        guard var holder = locks.writer else { return nil }
        var looks = 1
        while looks < (holder.isStopped ? Self.looksAtStopped : Self.looksAtRunning) {
            // A cancelled wait looks sooner.
            try? await Task.sleep(for: .milliseconds(100))
            guard let next = locks.writer, next == holder else { return nil }
            (holder, looks) = (next, looks + 1)
        }
        return holder
    }
}
