import AlertCore
import AlertTables
import Glibc
import Linux
import SQLite

/// A connection that writes, with the lock for that; a store has one. One thread at a time uses it.
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
    /// Held for each transaction and checkpoint.
    let lock: WriterLock
    var space: QueueSpace
    var database: OpenDatabase?
    var mustCheck = false
    /// Whether this process has stored responses, which may not be in the search index yet.
    var mayHaveNewTexts = false
    /// The multiple of ``checkpointPages`` at which readers were last waited for.
    private var waitedAt = 0

    init(
        files: QueueFiles, clock: any AlertClock, known: LogTail,
        busyTime: Duration = GroupCommit.busyTime
    ) {
        self.known = known
        file = DatabaseFile(files: files)
        self.clock = clock
        self.busyTime = busyTime
        lock = WriterLock(path: files.lock, mode: files.mode)
        space = QueueSpace(files)
    }

    /// Opens the database; creates and migrates it under the lock if necessary.
    func open() throws(AlertError) {
        defer { lock.release() }
        try openEvenIfFull { () throws(AlertError) in
            let opened = try file.openForWriting { () throws(AlertError) in
                try lock.acquire(within: busyTime)
            }
            let end = try performing("read the audit log") { try opened.handle.logEnd() }
            if let place = end.move?.place { throw .moved(file.files.database, to: place) }
            known.raise(to: end.head)
            return opened
        }
    }

    /// Opens the database; on a full disk, where even the first reader has no space for the shared
    /// memory, with some of the reserve.
    private func openEvenIfFull(
        _ open: () throws(AlertError) -> OpenDatabase
    ) throws(AlertError) {
        do throws(AlertError) {
            database = try open()
        } catch {
            guard case .storage = error, space.reserve != nil else {
                throw error
            }
            try lock.acquire(within: busyTime)
            guard space.releaseReserve() else { throw error }
            database = try open()
        }
    }

    /// Begins a transaction on the database that is at the path now; the lock is held.
    func begin() throws(AlertError) {
        if let failure = known.failure { throw failure }
        if mustCheck {
            database = nil
            try openEvenIfFull { () throws(AlertError) in
                try file.reopenAfterFailure(continuing: known.head)
            }
            mustCheck = false
        }
        if database?.isAtItsPath != true {
            // A file was deleted or replaced: anything written to the old one would be lost.
            database = nil
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

    private func checkHeader() throws(AlertError) {
        let replaced = try performing("read the header of \(file.files.database)") {
            try database?.replacement(notedIn: known)
        }
        if let replaced { throw replaced }
    }

    /// Starts the changes of the current transaction, if its log continues the one that this process
    /// knows.
    private func makeContext(in db: Database) throws -> WriteContext {
        let context = try WriteContext(db: db, of: file.files, now: clock.now())
        let (found, last) = (context.start, known.head)
        let continues =
            try found == last
            || (found.sequence > last.sequence
                && (last.sequence == 0 || db.auditHead(at: last.sequence) == last))
        guard continues else {
            throw known.end(
                because: LogTail.replaced
                    + "its log no longer has entry \(last.sequence), which was there",
                path: file.files.database)
        }
        if let place = context.move?.place {
            let error = AlertError.moved(file.files.database, to: place)
            known.fail(error)
            throw error
        }
        if database?.isHeadChecked == false {
            guard try db.isLastEntryIntact() else {
                let error = AlertError.inconsistent(nil, "the last entry of its log was changed")
                known.fail(error)
                throw error
            }
            database?.isHeadChecked = true
        }
        return context
    }

    /// Begins a transaction in which the schema has been checked.
    private func beginChecked() throws(AlertError) {
        let db = try db()
        try performing("begin a transaction") {
            try db.run("BEGIN IMMEDIATE")
            do {
                try database?.schema.run()
            } catch {
                database?.noteDamage(error, in: known)
                rollBack()
                throw error
            }
        }
    }

    /// Runs a closure in a transaction of its own, and commits it; returns whether other tasks of
    /// this process must examine what has happened.
    @discardableResult
    func transaction(_ body: (WriteContext) throws -> Void) throws -> Bool {
        try beginChecked()
        return try complete { context in
            try body(context)
            try context.writeCounts()
        }
    }

    /// Runs a closure in the current transaction, and commits it.
    private func complete(_ body: (WriteContext) throws -> Void) throws -> Bool {
        do {
            let db = try db()
            // Members would commit one by one, although their callers would get an error.
            guard db.isInTransaction else {
                throw AlertError.busy("the database is locked by another program; try again")
            }
            let context = try makeContext(in: db)
            try body(context)
            known.expect(context.change)
            try db.run("COMMIT")
            return known.didCommit()
        } catch {
            database?.noteDamage(error, in: known)
            rollBack()
            known.didNotCommit()
            mustCheck = mustCheck || (error as? SQLiteError)?.isIOError == true
            throw error
        }
    }

    /// Runs jobs in the current transaction, and commits it.
    ///
    /// One that fails before it has written anything leaves the others alone. If one fails later, or
    /// the disk is full, the transaction is undone, and each job that can be stored by itself is.
    ///
    /// - Parameter joining: Returns jobs that have come since, which join the transaction; called
    ///   until it returns none, which it must do at some time.
    func commit(_ jobs: [WriteJob], joining: () -> [WriteJob] = { [] }) -> Outcome {
        var outcome = Outcome()
        var refusals = refusalsForLongLog()
        admit(jobs, to: &outcome, &refusals)
        do {
            outcome.concernsOthers = try complete { context in
                var next = 0
                while next < outcome.members.count {
                    let members = next..<outcome.members.count
                    if next > 0 { context.now = clock.now() }
                    for index in members where outcome.members[index].error == nil {
                        outcome.members[index].error = try run(
                            outcome.members[index].job, in: context)
                    }
                    next = members.upperBound
                    admit(joining(), to: &outcome, &refusals)
                }
                // What several members have changed.
                do {
                    try context.writeCounts()
                } catch  where !error.concernsEveryone {
                    throw HalfDone(error: translated(error, "count what waits"))
                }
            }
            outcome.isCommitted = true
        } catch {
            repeatJobs(of: &outcome, after: error)
        }
        return outcome
    }

    /// Runs a job, and returns its error if it failed before it had written anything.
    private func run(_ job: WriteJob, in context: WriteContext) throws -> AlertError? {
        let writes = context.writes
        do {
            try job.work(context)
            return nil
        } catch let error as HalfDone {
            throw error
        } catch {
            guard context.db.isInTransaction, !error.concernsEveryone else { throw error }
            let failure = translated(error, job.operation)
            guard context.writes == writes else { throw HalfDone(error: failure) }
            return failure
        }
    }

    /// Runs the jobs of a transaction that was undone again, each in one of its own: all of them if
    /// one had failed by itself, the answers on a full disk.
    private func repeatJobs(of outcome: inout Outcome, after cause: any Error) {
        let (isHalfDone, isFull) = (cause is HalfDone, cause.isFull)
        // After a failed sync the pages count as clean but may not be on disk: nothing more is
        // acknowledged until the file has been opened and checked again.
        mustCheck = mustCheck || !(isHalfDone || isFull || cause.isBusy)
        var cause = cause
        for index in outcome.members.indices where !outcome.members[index].mayRepeat {
            let job = outcome.members[index].job
            // A member's own error may be due to what others have written, and that is undone.
            var failure: (any Error)? = cause
            let isRepeated = !mustCheck && (isHalfDone || isFull && job.kind == .answer)
            if isRepeated {
                repeat {
                    failure = runAlone(job, &outcome)
                } while failure?.isFull == true && job.kind == .answer && space.releaseReserve()
                if mustCheck, let failure { cause = failure }
            }
            outcome.members[index].error = failure.map { translated($0, job.operation) }
            outcome.members[index].mayRepeat =
                failure.map { !isRepeated || $0.concernsEveryone || $0.isBusy } ?? false
        }
    }

    /// Runs a job in a transaction of its own; returns the error if it failed.
    private func runAlone(_ job: WriteJob, _ outcome: inout Outcome) -> (any Error)? {
        do {
            // A log that can be restarted needs no space.
            _ = try? db().checkpoint(.passive)
            let concernsOthers = try transaction(job.work)
            outcome.isCommitted = true
            outcome.concernsOthers = outcome.concernsOthers || concernsOthers
            return nil
        } catch let halfDone as HalfDone {
            return halfDone.error
        } catch {
            return error
        }
    }

    /// Ends the current transaction, if there is one, and undoes what it has written.
    func rollBack() {
        guard let handle = database?.handle, handle.isInTransaction else { return }
        // The first error is the one to report.
        try? handle.execute("ROLLBACK")
    }

    /// Copies the write-ahead log into the database, if it has grown enough.
    func checkpointIfDue() {
        guard let database, !mustCheck else { return }
        let pages = database.handle.walPages
        guard pages >= Self.tightCheckpointPages else { return }
        // Space that any process has released from the reserve is not for the log.
        guard pages >= Self.checkpointPages || space.isReserveReleased else { return }
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
        let mayCopy = space.log > 0 && !space.isReserveReleased && !mustCheck
        let isLocked = mayCopy && (try? lock.acquire(within: time)) != nil
        if isLocked, known.failure == nil, database?.isAtItsPath == true,
            (try? checkHeader()) != nil
        {
            if mayHaveNewTexts { indexTexts(ifAtLeast: 1) }
            database?.handle.emptyLogAtClosing()
        }
        // This is the last reference, so it is closed here.
        database = nil
        if isLocked { lock.release() }
    }

    func db() throws(AlertError) -> Database {
        guard let database else {
            throw .storage(operation: "write to \(file.files.database)", "it is not open")
        }
        return database.handle
    }
}

extension Error {
    /// Whether the disk or the file fails, so that the whole transaction must end.
    fileprivate var concernsEveryone: Bool {
        guard let error = self as? SQLiteError else { return false }
        return error.isFull || error.isIOError || error.isDamage
    }

    fileprivate var isFull: Bool { (self as? SQLiteError)?.isFull ?? false }

    fileprivate var isBusy: Bool {
        if case .busy? = self as? AlertError { true } else { false }
    }
}

extension Writer {
    /// A member of a transaction, and what has become of it.
    struct Member {
        let job: WriteJob
        /// Why nothing of it is stored, if that is so.
        var error: AlertError?
        /// Whether that is not due to the job, so that it may be stored later.
        var mayRepeat = false
    }

    /// What has become of a transaction.
    struct Outcome {
        var members: [Member] = []
        /// Whether something is stored.
        var isCommitted = false
        /// Whether other tasks of this process must examine what has happened.
        var concernsOthers = false
    }

    // MARK: - Running out of space

    /// The log size at which new alerts are refused, because a reader prevents the log from being
    /// reused.
    private static let walLimitForAsks: Int64 = 48 << 20
    /// The log size at which snoozes, upkeep and posted jobs are refused, too: all but what ends an alert
    /// and what becomes of a response.
    private static let walLimitForUpkeep: Int64 = 64 << 20

    /// Why kinds of jobs are refused: because space is running out.
    private typealias Refusals = [WriteKind: AlertError]

    private func refusalsForLongLog() -> Refusals {
        guard space.log > Self.walLimitForAsks, !tryToEmptyLog() else { return [:] }
        let size = space.log - rewrittenSize()
        let error = AlertError.busy(
            "a program keeps reading the database, so its log (\(space.log >> 20) MiB) can't be "
                + "emptied; new alerts are refused until it ends")
        var refusals: Refusals = [:]
        if size > Self.walLimitForAsks { refusals[.ask] = error }
        if size > Self.walLimitForUpkeep { (refusals[.upkeep], refusals[.posted]) = (error, error) }
        return refusals
    }

    /// Adds members to a transaction, and refuses those for which there is no space.
    private func admit(_ jobs: [WriteJob], to outcome: inout Outcome, _ refusals: inout Refusals) {
        if refusals[.ask] == nil, jobs.contains(where: { $0.kind == .ask }) {
            do throws(AlertError) {
                try space.allocateReserve()
            } catch {
                refusals[.ask] = error
            }
        }
        outcome.members += jobs.map { job in
            let refusal = refusals[job.kind]
            return Member(job: job, error: refusal, mayRepeat: refusal != nil)
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

    /// Tries to empty the write-ahead log. A transaction is open that has written nothing yet.
    private func tryToEmptyLog() -> Bool {
        rollBack()
        let isEmptied = (try? db().checkpoint(.truncate)) ?? false
        // If none begins, the commit will fail with the reason.
        try? beginChecked()
        return isEmptied
    }
}
