import Glibc
import SQLite

/// The one connection of a process that writes; confined to the writer's thread.
final class Writer {
    /// At this many pages the write-ahead log is copied into the database and begun again: a small
    /// log that is reused is twice as fast as one that grows.
    private static let checkpointPages = 1000
    /// After the reserve has been given up, room matters more than speed.
    private static let tightCheckpointPages = 32
    /// From here on new alerts are refused, because a reader keeps the log from being reused.
    private static let walLimitForAsks: Int64 = 48 << 20
    /// From here on all but answers and withdrawals are refused.
    private static let walLimitForUpkeep: Int64 = 64 << 20

    private let file: DatabaseFile
    private let clock: any AlertClock
    private let known: KnownHead
    private let busyTime: Duration
    private let writerLock: WriterLock
    private var reserve: DiskReserve
    private var database: OpenDatabase?
    private var mustCheck = false

    struct Outcome {
        /// For each job, in order: why nothing of it is stored, or `nil`.
        var errors: [AlertError?]
        var isCommitted = false
        /// The newest audit entry after the commit.
        var head = AuditHead.start
        var mustKeepRiders = false
    }

    init(
        files: QueueFiles, clock: any AlertClock, known: KnownHead,
        busyTime: Duration = GroupCommit.busyTime
    ) {
        self.known = known
        file = DatabaseFile(files: files)
        self.clock = clock
        self.busyTime = busyTime
        writerLock = WriterLock(path: files.lock, mode: files.mode)
        reserve = DiskReserve(path: files.reserve, mode: files.mode)
    }

    /// Opens the database, which creates and migrates it under the lock if need be.
    func open() throws(AlertError) {
        var isLocked = false
        defer { if isLocked { writerLock.release() } }
        let lockOnce = { () throws(AlertError) in
            guard !isLocked else { return }
            try self.lockWithinBusyTime()
            isLocked = true
        }
        let opened: OpenDatabase
        do throws(AlertError) {
            opened = try openAndRead(lock: lockOnce)
        } catch {
            // On a full disk even the first one to read finds no room, for the shared memory.
            guard case .storage = error, FileIdentity(path: file.files.reserve) != nil else {
                throw error
            }
            try lockOnce()
            guard reserve.giveUp() else { throw error }
            opened = try openAndRead(lock: lockOnce)
        }
        database = opened
        known.raise(to: try storing("read the audit log") { try opened.handle.lastHead() })
    }

    private func openAndRead(
        lock: () throws(AlertError) -> Void
    ) throws(AlertError) -> OpenDatabase {
        let opened = try file.openForWriting(lock: lock)
        _ = try storing("read the audit log") { try opened.handle.lastSequence() }
        return opened
    }

    private func lockWithinBusyTime() throws(AlertError) {
        let limit = ContinuousClock.now + busyTime
        while try !writerLock.tryAcquire() {
            guard ContinuousClock.now < limit else { throw .locked(after: busyTime) }
            usleep(5000)
        }
    }

    func tryLock() throws(AlertError) -> Bool { try writerLock.tryAcquire() }
    func lock() throws(AlertError) { try writerLock.acquire() }
    func unlock() { writerLock.release() }

    /// Begins a transaction on the database that stands at the path now.
    func begin() throws(AlertError) {
        if mustCheck {
            database = nil
            do throws(AlertError) {
                database = try file.reopenAfterFailure(continuing: known.head)
            } catch {
                // A full disk may have no room even for opening.
                guard case .storage = error, reserve.giveUp() else { throw error }
                database = try file.reopenAfterFailure(continuing: known.head)
            }
            mustCheck = false
        }
        if database?.identity != FileIdentity(path: file.files.database) {
            // The file was deleted or replaced: what was written to the old one would be lost.
            database = nil
            database = try file.openExisting(continuing: known.head)
        }
        try storing("begin a transaction") { try db().run("BEGIN IMMEDIATE") }
    }

    func rollback() {
        // Nothing has been written yet, or an error is on its way already.
        try? database?.handle.execute("ROLLBACK")
    }

    /// Runs the jobs in the transaction that has begun, and commits it.
    func commit(_ jobs: [WriteJob]) -> Outcome {
        var outcome = Outcome(errors: refusals(of: jobs))
        outcome.mustKeepRiders = zip(jobs, outcome.errors).contains { job, refusal in
            job.kind == .upkeep && refusal != nil
        }
        do {
            try run(jobs, &outcome)
            try db().run("COMMIT")
            outcome.isCommitted = true
            known.raise(to: outcome.head)
            return outcome
        } catch {
            rollbackIfNeeded()
            return recover(from: error, jobs, outcome)
        }
    }

    /// Copies the write-ahead log into the database, if it has grown enough.
    func checkpointIfDue() {
        guard let database, !mustCheck else { return }
        let pages = database.handle.walPages
        guard pages >= Self.tightCheckpointPages else { return }
        // Whichever process has given the reserve up, its room is not for the log.
        guard pages >= Self.checkpointPages || reserve.isGivenUp else { return }
        do {
            _ = try database.handle.checkpoint(.passive)
        } catch {
            // Nothing is lost: the log still has it all. But a failed sync is not tried again.
            mustCheck = error.isIOError
        }
    }

    private func db() throws(AlertError) -> Database {
        guard let database else {
            throw .storage(operation: "write to \(file.files.database)", "it is not open")
        }
        return database.handle
    }

    private func run(_ jobs: [WriteJob], _ outcome: inout Outcome) throws {
        let db = try db()
        guard db.isInTransaction else {
            // Savepoints would commit one by one, and the caller be told that they failed.
            throw AlertError.busy("the database is locked by another program; try again")
        }
        let context = try WriteContext(db: db, now: clock.now())
        defer { outcome.head = context.head }
        for (index, job) in jobs.enumerated() where outcome.errors[index] == nil {
            let head = context.head
            try db.run("SAVEPOINT member")
            do {
                try job.work(context)
            } catch {
                guard db.isInTransaction, !error.concernsEveryone else { throw error }
                outcome.errors[index] = translated(error, job.operation)
                context.head = head
                // All that this member wrote goes; the others stay.
                try db.run("ROLLBACK TO member")
            }
            try db.run("RELEASE member")
        }
    }

    private func rollbackIfNeeded() {
        guard let handle = database?.handle, handle.isInTransaction else { return }
        // The first error is the one to report.
        try? handle.execute("ROLLBACK")
    }
}

// MARK: - Trouble

extension Writer {
    /// What has to be refused before anything is tried, because space runs out.
    private func refusals(of jobs: [WriteJob]) -> [AlertError?] {
        var walRefusal: AlertError?
        var upkeepRefusal: AlertError?
        if walSize() > Self.walLimitForAsks, !emptyLog() {
            let size = walSize()
            let busy = AlertError.busy(
                "a program keeps reading the database, so its log (\(size >> 20) MiB) can't be "
                    + "emptied; new alerts are refused until it ends")
            if size > Self.walLimitForAsks { walRefusal = busy }
            if size > Self.walLimitForUpkeep { upkeepRefusal = busy }
        }
        var diskRefusal: AlertError?
        if jobs.contains(where: { $0.kind == .ask }), walRefusal == nil {
            do throws(AlertError) {
                try reserve.setAside()
            } catch {
                diskRefusal = error
            }
        }
        return jobs.map { job in
            switch job.kind {
            case .ask: walRefusal ?? diskRefusal
            case .upkeep: upkeepRefusal
            case .answer: nil
            }
        }
    }

    private func walSize() -> Int64 {
        FileIdentity(path: file.files.wal)?.size ?? 0
    }

    /// Tries to empty the write-ahead log. A transaction is open, which has written nothing yet.
    private func emptyLog() -> Bool {
        guard let handle = database?.handle else { return false }
        rollback()
        let isEmptied = (try? handle.checkpoint(.truncate)) ?? false
        do {
            try handle.run("BEGIN IMMEDIATE")
        } catch {
            // The commit will fail, and say why.
            return false
        }
        return isEmptied
    }

    /// Decides what a failed transaction means for its members.
    private func recover(
        from error: any Error, _ jobs: [WriteJob], _ outcome: Outcome
    ) -> Outcome {
        var failed = outcome
        failed.errors = zip(jobs, outcome.errors).map { job, refusal in
            refusal ?? translated(error, job.operation)
        }
        failed.mustKeepRiders = true
        if case .busy? = error as? AlertError { return failed }
        guard let error = error as? SQLiteError, error.isFull else {
            // After a failed sync the pages count as clean but may not be on disk: nothing is
            // acknowledged any more until the file has been opened and checked again.
            mustCheck = true
            return failed
        }
        return retryAnswers(jobs, failed)
    }

    /// Runs the answers among the jobs again, one by one, in the room of the reserve.
    private func retryAnswers(_ jobs: [WriteJob], _ failed: Outcome) -> Outcome {
        var outcome = failed
        for (index, job) in jobs.enumerated() where job.kind == .answer {
            var error: (any Error)? = outcome.errors[index]
            while error != nil, reserve.giveUp() {
                error = retry(job, &outcome)
                // Anything but a lack of room stays as it is.
                if let error = error as? SQLiteError, error.isFull { continue }
                break
            }
            outcome.errors[index] = error.map { translated($0, job.operation) }
            mustCheck = mustCheck || ((error as? SQLiteError)?.isIOError ?? false)
        }
        return outcome
    }

    /// Runs one job in a transaction of its own; returns why it failed, if it did.
    private func retry(_ job: WriteJob, _ outcome: inout Outcome) -> (any Error)? {
        do {
            let db = try db()
            // A log that can be begun again takes no room.
            _ = try? db.checkpoint(.passive)
            try db.run("BEGIN IMMEDIATE")
            let context = try WriteContext(db: db, now: clock.now())
            try job.work(context)
            try db.run("COMMIT")
            outcome.isCommitted = true
            known.raise(to: context.head)
            return nil
        } catch {
            rollbackIfNeeded()
            return error
        }
    }
}

extension Error {
    /// Whether it is the disk or the file that fails, so that the whole transaction has to end.
    fileprivate var concernsEveryone: Bool {
        guard let error = self as? SQLiteError else { return false }
        return error.isFull || error.isIOError || error.isDamage
    }
}
