import AlertCore
import Linux
import SQLite

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
            let size = walSize()
            let busy = AlertError.busy(
                "a program keeps reading the database, so its log (\(size >> 20) MiB) can't be "
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
        if let rows = usedUpRows() {
            return retryEach(outcome, because: .usedUp(rows))
        }
        return retryAnswers(failed)
    }

    /// The rows whose numbers are used up; SQLite then claims that the disk is full, which is not
    /// true. See <https://sqlite.org/autoinc.html>.
    private func usedUpRows() -> String? {
        // If that can't be read, the disk is assumed to be full.
        let table = try? database?.handle.first(
            """
            SELECT name FROM (SELECT name, seq AS last FROM sqlite_sequence
                UNION ALL SELECT 'alerts', max(id) FROM alerts
                UNION ALL SELECT 'responses', max(seq) FROM responses) WHERE last >= ?
            """, .integer(Int64.max)
        ) { $0.text() }
        return table ?? nil
    }

    /// Runs each job again separately, unless it was refused before: only some of them need what
    /// has been used up.
    private func retryEach(_ failed: Outcome, because reason: AlertError) -> Outcome {
        var outcome = failed
        for (index, job) in failed.jobs.enumerated() where failed.refusals[index] == nil {
            let error = retry(job, &outcome)
            let isUsedUp = (error as? SQLiteError)?.isFull == true
            outcome.errors[index] = isUsedUp ? reason : error.map { translated($0, job.operation) }
        }
        return outcome
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
