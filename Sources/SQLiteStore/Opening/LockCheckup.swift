import AlertCore

/// The check of whether a process keeps others from writing.
struct LockCheckup: Sendable {
    private static let check = "lock"
    /// How many looks, a tenth of a second apart, must find the same process with the lock before
    /// it counts as one that holds it for long: one that runs may have it for as long as others wait.
    private static let looksAtStopped = 3
    private static let looksAtRunning = 50

    let files: QueueFiles

    func finding() async -> Finding {
        guard let holder = await keeper() else {
            return Finding(check: Self.check, detail: "no process keeps others from writing")
        }
        let process = holder.process
        guard !holder.isRewriting else {
            return Finding(
                check: Self.check,
                detail: process.subject + " rewrites the database for a purge; meanwhile, what is "
                    + "asked or answered waits",
                isNote: true)
        }
        let waking = process.isStopped ? "resume it: kill -CONT \(process.pid); or " : ""
        let force = process.isStopped ? "-KILL " : ""
        return Finding(
            check: Self.check,
            problem: process.subject + " holds the lock that every write needs: nothing can be "
                + "asked, answered or withdrawn",
            advice: "\(waking)end it: kill \(force)\(process.pid); what it had not finished is "
                + "undone",
            code: .busy)
    }

    /// The process that has held the lock for longer than a write takes.
    private func keeper() async -> LockHolder? {
        guard var holder = files.lockHolder else { return nil }
        var looks = 1
        while looks < (holder.process.isStopped ? Self.looksAtStopped : Self.looksAtRunning) {
            // A cancelled wait looks sooner.
            try? await Task.sleep(for: .milliseconds(100))
            guard let next = files.lockHolder, next.process == holder.process else {
                return nil
            }
            (holder, looks) = (next, looks + 1)
        }
        return holder
    }
}
