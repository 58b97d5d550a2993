import AlertCore
import Glibc
import Linux
import SQLite

/// The only connection of a process that writes; confined to the writer's thread.
final class Writer {
    /// The number of pages at which the write-ahead log is copied into the database and restarted,
    /// so that it stays small.
    private static let checkpointPages = 1000
    /// After the reserve has been released, space matters more than speed.
    private static let tightCheckpointPages = 32

    let file: DatabaseFile
    let clock: any AlertClock
    let known: LogTail
    private let busyTime: Duration
    private let writerLock: WriterLock
    var reserve: DiskReserve
    var database: OpenDatabase?
    var mustCheck = false
    /// Whether this process has stored responses, which may not be in the search index yet.
    var mayHaveNewTexts = false
    /// The size of the log in bytes when a transaction last began.
    var logSize: Int64?
    /// The multiple of ``checkpointPages`` at which readers were last waited for.
    private var waitedAt = 0
    private var headerCheck = HeaderCheck()
    private var hasCheckedHead = false

    init(
        files: QueueFiles, clock: any AlertClock, known: LogTail,
        busyTime: Duration = GroupCommit.busyTime
    ) {
        self.known = known
        file = DatabaseFile(files: files)
        self.clock = clock
        self.busyTime = busyTime
        writerLock = WriterLock(path: files.lock, mode: files.mode)
        reserve = DiskReserve(path: files.reserve, mode: files.mode)
    }

    /// Opens the database; creates and migrates it under the lock if necessary.
    func open() throws(AlertError) {
        var isLocked = false
        defer { if isLocked { writerLock.release() } }
        let lockOnce = { () throws(AlertError) in
            guard !isLocked else { return }
            try self.lockWithinBusyTime()
            isLocked = true
        }
        let opened: (database: OpenDatabase, head: AuditHead)
        do throws(AlertError) {
            opened = try openAndRead(lock: lockOnce)
        } catch {
            // On a full disk even the first reader has no space for the shared memory.
            guard case .storage = error, FileIdentity(path: file.files.reserve) != nil else {
                throw error
            }
            try lockOnce()
            guard reserve.giveUp() else { throw error }
            opened = try openAndRead(lock: lockOnce)
        }
        database = opened.database
        known.raise(to: opened.head)
    }

    private func openAndRead(
        lock: () throws(AlertError) -> Void
    ) throws(AlertError) -> (OpenDatabase, AuditHead) {
        let opened = try file.openForWriting(lock: lock)
        return (opened, try storing("read the audit log") { try opened.handle.lastHead() })
    }

    private func lockWithinBusyTime() throws(AlertError) {
        try writerLock.acquire(within: busyTime)
    }

    func tryLock() throws(AlertError) -> Bool { try writerLock.tryAcquire() }
    func lock() throws(AlertError) { try writerLock.acquire() }
    func unlock() { writerLock.release() }

    /// Runs a closure that holds the writer lock for long, because it rewrites the database.
    func rewriting<Result>(_ body: () throws -> Result) rethrows -> Result {
        writerLock.mark(isRewriting: true)
        defer { writerLock.mark(isRewriting: false) }
        return try body()
    }

    /// Begins a transaction on the database that is at the path now.
    func begin() throws(AlertError) {
        if let failure = known.failure { throw failure }
        if mustCheck {
            leaveDatabase()
            do throws(AlertError) {
                database = try file.reopenAfterFailure(continuing: known.head)
            } catch {
                // A full disk may have no space even for opening.
                guard case .storage = error, reserve.giveUp() else { throw error }
                database = try file.reopenAfterFailure(continuing: known.head)
            }
            mustCheck = false
        }
        logSize = database?.logSizeAtItsPath
        if logSize == nil {
            // A file was deleted or replaced: anything written to the old one would be lost.
            leaveDatabase()
            do throws(AlertError) {
                database = try file.openExisting(continuing: known.head)
            } catch {
                known.reportMove()
                // It is tried again at once, and the reader needs a moment to close the files.
                if case .busy = error { usleep(5000) }
                throw error
            }
        }
        try checkHeader()
        try beginChecked()
    }

    private func leaveDatabase() {
        database = nil
        (headerCheck, hasCheckedHead) = (HeaderCheck(), false)
    }

    private func checkHeader() throws(AlertError) {
        let db = try db()
        let isOurs = try storing("read the header of \(file.files.database)") {
            try headerCheck.run(db)
        }
        guard isOurs else { throw replaced(LogTail.overwritten) }
    }

    private func replaced(_ reason: String) -> AlertError {
        known.noteReplacement(reason, path: file.files.database)
    }

    /// Makes this process write nothing more if an error shows that the file is damaged, or has
    /// been overwritten since its header was checked.
    func noteDamage(_ error: any Error) {
        guard let damage = error as? SQLiteError, damage.isDamagedFile,
            let database, database.isAtItsPath
        else { return }
        if (try? headerCheck.run(database.handle)) == false {
            _ = replaced(LogTail.overwritten)
        }
        known.noteDamage("\(damage)", path: file.files.database)
    }

    /// Starts the changes of the current transaction, if its log continues the one that this process
    /// knows.
    func makeContext(in db: Database, at now: ClockReading) throws -> WriteContext {
        let context = try WriteContext(db: db, now: now)
        let (found, last) = (context.start, known.head)
        let continues =
            try found == last
            || (found.sequence > last.sequence
                && (last.sequence == 0 || db.auditHead(at: last.sequence) == last))
        guard continues else {
            throw replaced("its log no longer has entry \(last.sequence), which was there")
        }
        if !hasCheckedHead {
            guard try db.isLastEntryIntact() else {
                let error = AlertError.inconsistent(nil, "the last entry of its log was changed")
                known.fail(error)
                throw error
            }
            hasCheckedHead = true
        }
        return context
    }

    /// Begins a transaction in which the schema has been checked.
    func beginChecked() throws(AlertError) {
        let db = try db()
        try storing("begin a transaction") {
            try db.run("BEGIN IMMEDIATE")
            do {
                try database?.schema.run()
            } catch {
                noteDamage(error)
                rollbackIfNeeded()
                throw error
            }
        }
    }

    func rollback() {
        // Nothing has been written yet, or an error is already being reported.
        try? database?.handle.execute("ROLLBACK")
    }

    /// Runs the jobs in the current transaction, and commits it.
    ///
    /// - Parameter joining: Returns jobs that have come since, which join the transaction; called
    ///   until it returns none, which it must do at some time.
    func commit(_ jobs: [WriteJob], joining: () -> [WriteJob] = { [] }) -> Outcome {
        var space = spaceLimits()
        var outcome = Outcome()
        let admit = { (jobs: [WriteJob], outcome: inout Outcome) in
            outcome.admit(jobs, refusals: self.refusals(of: jobs, &space))
        }
        admit(jobs, &outcome)
        do {
            try run(&outcome) { admit(joining(), &$0) }
            if let change = outcome.change { known.expect(change) }
            try db().run("COMMIT")
            outcome.isCommitted = true
            outcome.concernsOthers = outcome.change != nil && known.didCommit()
            return outcome
        } catch {
            noteDamage(error)
            rollbackIfNeeded()
            known.didNotCommit()
            return recover(from: error, outcome)
        }
    }

    /// Copies the write-ahead log into the database, if it has grown enough.
    func checkpointIfDue() {
        guard let database, !mustCheck else { return }
        let pages = database.handle.walPages
        guard pages >= Self.tightCheckpointPages else { return }
        // Space that any process has released from the reserve is not for the log.
        guard pages >= Self.checkpointPages || reserve.isGivenUp else { return }
        // If readers follow each other closely, the log is only restarted after waiting for the
        // current ones: at most a quarter of a second, once every 4 MiB.
        let multiple = pages / Self.checkpointPages
        let waits = multiple >= 4 && multiple != waitedAt
        waitedAt = multiple
        do {
            _ = try database.handle.checkpoint(waits ? .truncate : .passive)
        } catch {
            // Nothing is lost: the log still has everything. But a failed sync is not tried again.
            mustCheck = error.isIOError
        }
    }

    /// Closes the database. If no other process has it open, its log is copied into it first: at
    /// rest the queue is in that one file, and a copy or a snapshot of it lacks nothing.
    ///
    /// On a full disk the log stays as it is: other programs would take the space that it leaves.
    ///
    /// - Parameter time: How long to wait for the writer lock. Another process that holds it closes
    ///   later, unless it is killed.
    func close(within time: Duration = .seconds(1)) {
        let hasLog = (FileIdentity(path: file.files.wal)?.size ?? 0) > 0
        let mayCopy = hasLog && !mustCheck && !reserve.isGivenUp && database?.isAtItsPath == true
        let isLocked = mayCopy && (try? writerLock.acquire(within: time)) != nil
        if isLocked, known.failure == nil, (try? checkHeader()) != nil {
            if mayHaveNewTexts { indexTexts(ifAtLeast: 1) }
            database?.handle.emptyLogAtClosing()
        }
        // This is the last reference, so it is closed here.
        database = nil
        if isLocked { writerLock.release() }
    }

    func db() throws(AlertError) -> Database {
        guard let database else {
            throw .storage(operation: "write to \(file.files.database)", "it is not open")
        }
        return database.handle
    }

    private func run(
        _ outcome: inout Outcome, admitting admit: (inout Outcome) -> Void
    ) throws {
        let db = try db()
        guard db.isInTransaction else {
            // Savepoints would commit one by one, although their callers would get an error.
            throw AlertError.busy("the database is locked by another program; try again")
        }
        do {
            try runAtOnce(in: db, &outcome, admitting: admit)
        } catch is HalfDone {
            // This is rare, so it pays to run the other jobs without savepoints.
            try db.run("ROLLBACK")
            try beginChecked()
            outcome.errors = outcome.refusals
            try runOneByOne(in: db, &outcome)
        }
    }

    /// Runs jobs each of which either succeeds or fails before it has written anything.
    private func runAtOnce(
        in db: Database, _ outcome: inout Outcome, admitting admit: (inout Outcome) -> Void
    ) throws {
        let context = try makeContext(in: db, at: clock.now())
        var next = 0
        while next < outcome.jobs.count {
            let members = next..<outcome.jobs.count
            context.expect(at: next == 0 ? context.now : clock.now())
            for index in members where outcome.errors[index] == nil {
                outcome.errors[index] = try run(outcome.jobs[index], in: context)
            }
            next = members.upperBound
            admit(&outcome)
        }
        try wholly(db) { try context.finish() }
        outcome.change = context.change
    }

    /// Runs a job, and returns its error if it failed before it had written anything.
    private func run(_ job: WriteJob, in context: WriteContext) throws -> AlertError? {
        let db = context.db
        let changes = db.totalChanges
        do {
            try job.work(context)
            return nil
        } catch {
            guard db.isInTransaction, !error.concernsEveryone else { throw error }
            guard db.totalChanges == changes else { throw HalfDone() }
            return translated(error, job.operation)
        }
    }

    /// Runs what concerns several jobs: if that fails for one of them, each is run by itself.
    private func wholly(_ db: Database, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            guard db.isInTransaction, !error.concernsEveryone else { throw error }
            throw HalfDone()
        }
    }

    /// Runs each job in a savepoint, so that a failing one only undoes its own writes.
    private func runOneByOne(in db: Database, _ outcome: inout Outcome) throws {
        let now = clock.now()
        for (index, job) in outcome.jobs.enumerated() where outcome.errors[index] == nil {
            try db.run("SAVEPOINT member")
            do {
                let context = try makeContext(in: db, at: now)
                try job.work(context)
                try context.finish()
                outcome.change = LogTail.Commit(
                    start: outcome.change?.start ?? context.start, head: context.head,
                    concernsOthers: true)
            } catch {
                guard db.isInTransaction, !error.concernsEveryone else { throw error }
                outcome.errors[index] = translated(error, job.operation)
                try db.run("ROLLBACK TO member")
            }
            try db.run("RELEASE member")
        }
    }

    func rollbackIfNeeded() {
        guard let handle = database?.handle, handle.isInTransaction else { return }
        // The first error is the one to report.
        try? handle.execute("ROLLBACK")
    }
}

/// The error when a member of a transaction failed after it had written something.
private struct HalfDone: Error {}

extension Error {
    /// Whether the disk or the file fails, so that the whole transaction must end.
    fileprivate var concernsEveryone: Bool {
        guard let error = self as? SQLiteError else { return false }
        return error.isFull || error.isIOError || error.isDamage
    }
}

extension Writer {
    /// The members of a transaction, and what has become of them.
    struct Outcome {
        private(set) var jobs: [WriteJob] = []
        /// For each job, in order: why it was refused before it was tried, or `nil`.
        private(set) var refusals: [AlertError?] = []
        /// For each job, in order: the error if nothing of it is stored, or `nil`.
        var errors: [AlertError?] = []
        var isCommitted = false
        /// The transaction's changes to the audit log.
        var change: LogTail.Commit?
        /// Whether other tasks of this process must examine what has happened.
        var concernsOthers = false
        var mustKeepDeferred = false

        /// Adds members.
        mutating func admit(_ jobs: [WriteJob], refusals: [AlertError?]) {
            self.jobs += jobs
            self.refusals += refusals
            errors += refusals
            let isKept = { (job: WriteJob, refusal: AlertError?) in
                job.kind == .upkeep && refusal != nil
            }
            mustKeepDeferred = mustKeepDeferred || zip(jobs, refusals).contains(where: isKept)
        }
    }
}

// Handling transactions when space runs out or the disk fails.
extension Writer {
    /// The log size at which new alerts are refused, because a reader prevents the log from being
    /// reused.
    private static let walLimitForAsks: Int64 = 48 << 20
    /// The log size at which everything but answers and withdrawals is refused.
    private static let walLimitForUpkeep: Int64 = 64 << 20

    /// Why a transaction refuses some kinds of writes: because space is running out.
    struct SpaceLimits {
        fileprivate var asks: AlertError?
        fileprivate var upkeep: AlertError?
        fileprivate var hasTriedReserve = false
    }

    /// Finds out what is refused; a transaction is open that has written nothing yet.
    func spaceLimits() -> SpaceLimits {
        var limits = SpaceLimits()
        if logSize ?? walSize() > Self.walLimitForAsks, !emptyLog() {
            let size = walSize() - rewrittenSize()
            let busy = AlertError.busy(
                "a program keeps reading the database, so its log (\(walSize() >> 20) MiB) can't be "
                    + "emptied; new alerts are refused until it ends")
            if size > Self.walLimitForAsks { limits.asks = busy }
            if size > Self.walLimitForUpkeep { limits.upkeep = busy }
        }
        return limits
    }

    /// For each of the jobs, why it is refused, or `nil`.
    func refusals(of jobs: [WriteJob], _ limits: inout SpaceLimits) -> [AlertError?] {
        if limits.asks == nil, !limits.hasTriedReserve, jobs.contains(where: { $0.kind == .ask }) {
            do throws(AlertError) {
                try reserve.setAside()
            } catch {
                limits.asks = error
            }
            limits.hasTriedReserve = true
        }
        return jobs.map { job in
            switch job.kind {
            case .ask: limits.asks
            case .upkeep: limits.upkeep
            case .answer: nil
            }
        }
    }

    /// How much of the log a purge may have written that has rewritten the database, and could not
    /// empty the log afterwards, in bytes.
    private func rewrittenSize() -> Int64 {
        // If that can't be read, the transaction fails anyway.
        guard let db = database?.handle, let upkeep = try? db.upkeep(),
            upkeep.erasures > upkeep.erasuresDone
        else { return 0 }
        let pages = try? db.first("PRAGMA page_count") { $0.integer() }
        let frame: Int64 = 4096 + 24
        return (pages ?? 0).multipliedReportingOverflow(by: frame).partialValue
    }

    private func walSize() -> Int64 {
        FileIdentity(path: file.files.wal)?.size ?? 0
    }

    /// Tries to empty the write-ahead log. A transaction is open that has written nothing yet.
    private func emptyLog() -> Bool {
        guard let handle = database?.handle else { return false }
        rollback()
        let isEmptied = (try? handle.checkpoint(.truncate)) ?? false
        do {
            try beginChecked()
        } catch {
            // The commit will fail with the reason.
            return false
        }
        return isEmptied
    }

    /// Decides what a failed transaction means for its members.
    func recover(from error: any Error, _ outcome: Outcome) -> Outcome {
        var failed = outcome
        // A member's own error may be due to what others have written, and that is undone.
        failed.errors = zip(outcome.jobs, outcome.refusals).map { job, refusal in
            refusal ?? translated(error, job.operation)
        }
        failed.mustKeepDeferred = true
        if case .busy? = error as? AlertError { return failed }
        guard let error = error as? SQLiteError, error.isFull else {
            // After a failed sync the pages count as clean but may not be on disk: nothing more is
            // acknowledged until the file has been opened and checked again.
            mustCheck = true
            return failed
        }
        return retryAnswers(failed)
    }

    /// Runs the answers among the jobs again, one by one, in the space of the reserve.
    private func retryAnswers(_ failed: Outcome) -> Outcome {
        var outcome = failed
        for (index, job) in failed.jobs.enumerated() where job.kind == .answer {
            var error = retry(job, &outcome)
            while (error as? SQLiteError)?.isFull == true, reserve.giveUp() {
                error = retry(job, &outcome)
            }
            outcome.errors[index] = error.map { translated($0, job.operation) }
            mustCheck = mustCheck || ((error as? SQLiteError)?.isIOError ?? false)
        }
        return outcome
    }

    /// Runs one job in a separate transaction; returns the error if it failed.
    private func retry(_ job: WriteJob, _ outcome: inout Outcome) -> (any Error)? {
        do {
            let db = try db()
            // A log that can be restarted needs no space.
            _ = try? db.checkpoint(.passive)
            try beginChecked()
            let context = try makeContext(in: db, at: clock.now())
            try job.work(context)
            try context.finish()
            try db.run("COMMIT")
            outcome.isCommitted = true
            known.raise(to: context.head)
            outcome.concernsOthers = true
            return nil
        } catch {
            noteDamage(error)
            rollbackIfNeeded()
            return error
        }
    }
}
