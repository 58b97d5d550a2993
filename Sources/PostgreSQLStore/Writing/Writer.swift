import AlertCore
import AlertTables
import Dispatch
import Glibc
import PostgreSQL

/// Runs the transactions of what waits to be written to a server, one after the other, on the queue of
/// the working session.
///
/// While the server can't be reached, each write waits for as long as its caller does.
final class Writer: Sendable {
    /// How long a caller waits for its transaction to be stored.
    private let busyTime: Duration
    /// How long an asker waits for a server that is away, which may take that long to fail over.
    private let askingTime: Duration
    /// The maximum number of writes that share a transaction.
    private static let maximumBatch = 500
    /// How long it pauses after a failure, so that nothing spins.
    private static let pause = Duration.milliseconds(100)
    /// How long a process that is about to end waits.
    private static let endingTime = Duration.milliseconds(500)
    /// How long the server has for an attempt at least.
    private static let shortestAttempt = Duration.seconds(1)

    let writes: WriteQueue
    private let sessions: SessionQueue
    private let interruption: Interruption
    private let known: KnownHead
    /// On whose behalf it stores what has happened to the server.
    private let caller: Caller
    /// Whether this process acts for others, so that all it does concerns somebody.
    private let isShared: Bool
    private let onCommit: @Sendable (_ concernsOthers: Bool) -> Void

    init(
        _ sessions: SessionQueue, interruption: Interruption, known: KnownHead, caller: Caller,
        busyTime: Duration,
        askingTime: Duration, isShared: Bool,
        onTrouble: @escaping @Sendable (AlertError) -> Void,
        onCommit: @escaping @Sendable (_ concernsOthers: Bool) -> Void
    ) {
        (self.sessions, self.interruption) = (sessions, interruption)
        self.known = known
        self.caller = caller
        self.isShared = isShared
        self.busyTime = busyTime
        self.askingTime = max(busyTime, askingTime)
        self.onCommit = onCommit
        writes = WriteQueue(onTrouble: onTrouble)
        writes.whenDue { [weak self] due in
            let time = ContinuousClock.now.duration(to: due)
            sessions.async(after: time > .zero ? time : nil) { [weak self] in self?.drain($0) }
        }
    }

    /// Writes all that waits, and accepts nothing more.
    nonisolated(nonsending) func close() async {
        writes.refuse(with: .closed)
        await withCheckedContinuation { continuation in
            sessions.async { session in
                self.drain(session)
                continuation.resume()
            }
        }
    }

    // MARK: On the executor

    private func drain(_ session: Session) {
        session.use(interruption)
        while true {
            let batch = writes.takeDue(atMost: Self.maximumBatch)
            if batch.isEmpty { return }
            write(batch, on: session)
        }
    }

    /// Stores a batch, or as much of it as can be stored.
    private func write(_ batch: [WriteJob], on session: Session) {
        var rest = batch
        // The server may have ended a connection that nobody has used for long.
        var hasLostSession = false
        while !rest.isEmpty {
            switch attempt(rest, on: session) {
            case .done(let failures):
                for (index, job) in rest.enumerated() { job.finish(failures[index]) }
                return
            case .alone:
                for job in rest { write([job], on: session) }
                return
            case .failed(let error):
                for job in rest { job.finish(error) }
                return
            case .later(_, isSessionLost: true) where !hasLostSession:
                hasLostSession = true
            case .later(let error, _):
                // Those whose callers have waited long enough give up.
                let (isClosing, isAway) = (writes.isClosed, error.isServerAway)
                let isLate = { [self] (job: WriteJob) in
                    isClosing
                        || job.kind != .posted
                            && job.enqueued + patience(of: job, isAway: isAway) <= .now
                }
                for job in rest where isLate(job) { job.finish(error) }
                rest.removeAll(where: isLate)
                guard rest.contains(where: { $0.kind != .posted }) else {
                    return writes.fail(rest.map { ($0, error) })
                }
                Thread.pause(Self.pause)
                // What has come meanwhile may have less time.
                rest += writes.take(atMost: max(Self.maximumBatch - rest.count, 0))
            }
        }
    }

    private enum Outcome {
        /// Everything is stored, but for the members with an error.
        case done([AlertError?])
        /// A member failed that has written something: each has to be tried alone.
        case alone
        case failed(AlertError)
        /// Nothing is stored, and the server may do it in a moment.
        case later(AlertError, isSessionLost: Bool = false)
    }

    private func attempt(_ jobs: [WriteJob], on session: Session) -> Outcome {
        let operation = (jobs.first { $0.kind != .posted } ?? jobs[0]).operation
        do {
            return try run(jobs, on: session)
        } catch let error as PostgreSQLError {
            return outcome(of: error, operation, on: session)
        } catch {
            return .failed(translated(error, operation, at: session.location))
        }
    }

    /// How long the caller of a job waits: for a server that is away, or for a lock.
    private func patience(of job: WriteJob, isAway: Bool = true) -> Duration {
        if known.isEnding { return min(busyTime, Self.endingTime) }
        return isAway && job.isOfAsker ? askingTime : busyTime
    }

    /// How long the server may take, so that no caller waits much longer than it should; a caller
    /// who has waited long gets one more attempt.
    private func timeLeft(for jobs: [WriteJob]) -> Duration {
        let left = jobs.map { patience(of: $0) - $0.enqueued.duration(to: .now) }.min()
        return max(min(left ?? busyTime, busyTime), min(busyTime, Self.shortestAttempt))
    }

    private func outcome(
        of error: PostgreSQLError, _ operation: String, on session: Session
    ) -> Outcome {
        if error.isConnectionLost || error.meaning == .reconnect { session.drop() }
        let failure = translated(error, operation, at: session.location)
        // Before COMMIT was sent nothing can have been stored.
        return error.meaning.lasts
            ? .failed(failure) : .later(failure, isSessionLost: error.isSessionLost)
    }

    private func run(_ jobs: [WriteJob], on session: Session) throws -> Outcome {
        let db = try session.open(within: timeLeft(for: jobs))
        db.timeLimit = timeLeft(for: jobs)
        var needed: [Statement] = []
        var isNeeded: Set<Statement> = []
        for statement in jobs.flatMap({ $0.reading(.ofServer(session.queue)) })
        where isNeeded.insert(statement).inserted { needed.append(statement) }
        let transaction: Transaction
        do {
            transaction = try Transaction(
                on: db, session, known: known.head, reading: needed, within: db.timeLimit)
            let hosts = HostNames(
                own: session.location.ownHost, home: session.home ?? "")
            try transaction.arrive(by: hosts.stored(caller))
        } catch let error as AlertError {
            db.rollBack()
            switch error {
            case .inconsistent, .incompatible: known.fail(error)
            default: break
            }
            throw error
        }
        var failures = [AlertError?](repeating: nil, count: jobs.count)
        for (index, job) in jobs.enumerated() {
            do {
                if case .failure(let error) = try transaction.attempt({
                    try job.work(transaction)
                }) {
                    failures[index] = error
                }
            } catch {
                transaction.rollBack()
                let isOwn =
                    error is HalfDone || (error as? PostgreSQLError)?.meaning.lasts == true
                if jobs.count > 1, isOwn { return .alone }
                guard let halfDone = error as? HalfDone else { throw error }
                return .done([halfDone.error])
            }
        }
        guard transaction.hasChanges else {
            transaction.rollBack()
            return .done(failures)
        }
        try transaction.writeCounts()
        return try commit(transaction, failures, jobs, on: session)
    }

    private func commit(
        _ transaction: Transaction, _ failures: [AlertError?], _ jobs: [WriteJob],
        on session: Session
    ) throws -> Outcome {
        let (start, head) = (transaction.start, transaction.head)
        let isOwn = !isShared && !transaction.concernsOthers
        if isOwn { known.expect(transaction.entries) }
        let changes =
            transaction.changes + (transaction.hasChangedSilently ? 1 : 0)
        let stored = { [self] in
            let othersHaveChanged = known.didCommit(
                from: start, changes: transaction.changes, to: head, changes: changes)
            onCommit(!isOwn || othersHaveChanged)
            return Outcome.done(failures)
        }
        var outcome = transaction.commit(within: busyTime)
        if case .committed = outcome, transaction.db.hasStoppedWaiting {
            outcome = .unknown(
                PostgreSQLError(.lost("a standby did not confirm the commit"), "COMMIT"))
        }
        switch outcome {
        case .committed: return stored()
        case .refused(let error):
            known.forgetExpected()
            if jobs.count > 1, error.meaning.lasts { return .alone }
            throw error
        case .unknown(let error):
            session.drop()
            // Whether it was carried out is found out before anybody is told anything.
            guard let isStored = lookUp(head, after: start, for: jobs, on: session) else {
                known.forgetExpected()
                let operation = jobs[0].operation
                return .failed(
                    .storage(
                        operation: operation,
                        "the server was lost while it stored this, and it is not known whether "
                            + "it did: \(error)"))
            }
            if isStored { return stored() }
            known.forgetExpected()
            return .later(
                translated(error, jobs[0].operation, at: session.location), isSessionLost: true)
        }
    }

    /// Finds out whether a transaction was stored whose `COMMIT` was not answered; `nil` if the
    /// server can't be asked in time.
    ///
    /// It takes the lock of the head, which a transaction that is still under way has.
    private func lookUp(
        _ head: AuditHead, after start: AuditHead, for jobs: [WriteJob], on session: Session
    ) -> Bool? {
        let beginning = ContinuousClock.now
        // The time of those who wait longest, which a signal or the store's end may shorten.
        let end = { [self] in
            let ends = writes.isClosed ? [] : jobs.map { $0.enqueued + patience(of: $0) }
            return ends.max() ?? beginning + Self.shortestAttempt
        }
        repeat {
            let left = max(
                min(ContinuousClock.now.duration(to: end()), busyTime), Self.shortestAttempt)
            if let db = try? session.open(within: left) {
                db.timeLimit = left
                let hash = Query.ofServer(session.queue).entryHash(head.sequence)
                let transaction = try? Transaction(
                    on: db, session, known: start, reading: [hash], within: left,
                    allowsMoved: true)
                defer { db.rollBack() }
                if let transaction,
                    let found = try? transaction.rows(hash, as: EntryHash.self)
                {
                    // Without an entry, what was done does no harm if it is done again.
                    let isStored = head != start && found.first?.bytes == head.hash
                    guard isStored else { return false }
                    // What is stored here may not be on the standby yet: a commit after it is.
                    let confirmation = Statement(
                        "UPDATE heads SET changes = changes WHERE queue = $1", session.queue)
                    if case .committed = db.commit([confirmation]),
                        !db.hasStoppedWaiting
                    {
                        return true
                    }
                }
            }
            Thread.pause(Self.pause)
        } while .now < end()
        return nil
    }
}

extension Connection {
    /// Whether the server has acknowledged a commit although no standby has: somebody has
    /// cancelled its wait. See
    /// <https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION>.
    var hasStoppedWaiting: Bool {
        notices.contains { $0.severity == "WARNING" && $0.state.description == "01000" }
    }

    static let noHead = AlertError.inconsistent(nil, "the queue has no head")
}

/// The ``AlertError`` for a failure in the layers below, of a queue at a place.
func translated(
    _ error: any Error, _ operation: String, at place: PostgreSQLLocation
) -> AlertError {
    switch error {
    case let error as AlertError: return error
    case let error as PostgreSQLError:
        if case .noLibrary = error.cause { return .missingLibrary("\(error)") }
        switch error.meaning {
        case .tryLater where "\(error)".contains("(SQLSTATE 53300)"):
            return .unreachable(
                "has no connection left: \(error); each process takes one, and one that waits takes "
                    + "two: end some, raise the limit (max_connections, or CONNECTION LIMIT of the "
                    + "role or the database), or put PgBouncer before the server")
        case .reconnect where error.isAboutSessionState:
            return .unreachable(
                "was lost: \(error); if a pooler in transaction mode is before the server, the "
                    + "location needs notify=off")
        case .reconnect, .lookUp: return .unreachable("was lost: \(error)")
        case .tryLater where error.isConnectionLost:
            return .unreachable(
                "can't be reached: \(error)"
                    + (error.hasReachedOnlyStandbys
                        ? "; the location has to name the primary, too, and the role must be one "
                            + "that may write (default_transaction_read_only)" : ""))
        case .retry where error.state == SQLState("55P03"):
            return .busy(
                "another session keeps the queue locked (\(error)); to see which: alertq doctor"
            )
        case .retry, .tryLater: return .busy("the server of the queue: \(error); try again")
        case .notPermitted: return .notPermitted(path: place.description, advised(error))
        case .missing:
            return .missing(location: place.description, advised(error, place))
        case .giveUp: return .storage(operation: operation, "\(error)")
        }
    default: return .storage(operation: operation, "\(error)")
    }
}

extension PostgreSQLError {
    /// Whether the session does not have the statements that were prepared in it, or has others.
    fileprivate var isAboutSessionState: Bool {
        ["26000", "42P05"].contains(state?.description)
    }
}

/// An error that lasts until somebody changes the server, and what to do about it.
private func advised(_ error: PostgreSQLError, _ place: PostgreSQLLocation? = nil) -> String {
    let advice =
        switch error.state?.description {
        case "3D000"?: "; createdb makes one, and then its tables: " + (place?.setUp ?? "")
        case "28000"? where error.isAboutTLS:
            "; see sslmode, sslrootcert and channel_binding of the location, and the server's "
                + "certificate"
        case let state? where state.hasPrefix("28"):
            "; see whether the role exists, its password (~/.pgpass), and the server's pg_hba.conf"
        case "42501"? where "\(error)".contains("denied for database"):
            "; its owner can let the role in: GRANT CONNECT ON DATABASE … TO …"
        case "42501"?: "; alertq doctor says which rights the role lacks"
        default: place.map { "; to make what is missing: \($0.setUp)" } ?? ""
        }
    return "\(error)" + advice
}

enum Thread {
    static func pause(_ time: Duration) { usleep(UInt32(time / .microseconds(1))) }
}

extension WriteQueue {
    /// Runs a closure in a transaction, and returns its result once that is stored.
    ///
    /// - Parameters:
    ///   - isOfAsker: Whether it is an asker's, who has nothing better to do than to wait.
    ///   - reading: What the closure will read.
    nonisolated(nonsending) func perform<Result: Sendable>(
        _ kind: WriteKind, _ operation: String, isOfAsker: Bool = false,
        reading: @escaping WriteJob.Reading = { _ in [] },
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws(AlertError) -> Result {
        try await result { box, finish in
            WriteJob(
                kind: kind, operation: operation, isOfAsker: isOfAsker, reading: reading,
                finish: finish
            ) { box.put(try body(unsafeDowncast($0, to: Transaction.self))) }
        }
    }

    /// Schedules a closure for the next transaction, or soon for one of its own, and doesn't wait.
    func post(
        _ operation: String, reading: @escaping WriteJob.Reading,
        _ body: @escaping @Sendable (Transaction) throws -> Void
    ) {
        post(
            operation, reading: reading,
            work: { try body(unsafeDowncast($0, to: Transaction.self)) })
    }
}
