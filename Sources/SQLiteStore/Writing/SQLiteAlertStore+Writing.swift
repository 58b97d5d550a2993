import AlertCore
import Linux
import SQLite

// The changes and notes of the seam, as carried out by this store.
extension SQLiteAlertStore {
    package nonisolated(nonsending) func commit(
        _ change: Change, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        // A process that ends before the timekeeper's first look stores expiries, too.
        if timekeeper?.isFirstChange() == true {
            commits.deferWrite("store expiries") { [caller = self.caller] context in
                _ = try context.expireOverdue(atMost: 100, by: caller)
            }
        }
        switch change {
        case .ask(let question):
            let receipt = try await storeQuestion(question, by: caller)
            if receipt.isNew { lookAhead.didAsk(receipt) }
            if receipt.record.response == nil, let expiry = receipt.expiry {
                timekeeper?.setAlarm(at: expiry)
            }
            return receipt
        case .resolve(let id, let resolution, let seen):
            let receipt = try await storeResponse(id, resolution, seen: seen, by: caller)
            lookAhead.didResolve(id)
            return receipt
        case .expire(let id):
            return try await storeExpiry(id, by: caller)
        case .snooze(let id, let end):
            let (receipt, end) = try await storeSnooze(id, until: end, by: caller)
            timekeeper?.setAlarm(at: end)
            return receipt
        case .collect(let id, let reason):
            return try await storeCollection(id, unused: reason, by: caller)
        case .run(let id, let step):
            return try await storeRun(id, step, by: caller)
        case .requestCancel(let id, let authority):
            return try await storeCancelRequest(id, authority, by: caller)
        }
    }

    package func post(_ note: Note, by caller: Caller) {
        switch note {
        case .presented(let record, let moment):
            postPresented(record, at: moment, by: caller)
        case .returned(let record, let reason):
            lookAhead.forget()
            postReturned(record, because: reason, by: caller)
        case .collected(let id):
            postCollected(id, by: caller)
        }
    }

    /// What is due now, and when something will be due next.
    nonisolated(nonsending) func due() async throws(AlertError) -> Due {
        try await read("look for what is due") { [clock] db in
            let now = clock.now()
            return Due(isNow: try db.isDue(at: now), next: try db.nextDue(at: now))
        }
    }
}

extension SQLiteAlertStore {
    nonisolated(nonsending) func storeQuestion(
        _ question: Question, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        // A known key needs no write, and so no disk space.
        if let known = try await known(question, of: caller) { return known }
        let prepared = PreparedQuestion(question, by: caller)
        let stored = try await commits.perform(.ask, Self.storing) { try prepared.store(in: $0) }
        return prepared.receipt(of: stored)
    }

    /// Stores one alert on the calling thread, without a store and its threads.
    ///
    /// A process that writes once and ends would spend more time on them than on its write. This
    /// never waits: `nil` means that nothing was stored; open a store, which waits or reports the
    /// problem.
    ///
    /// - Throws: The errors of ``Change/ask(_:)`` once its transaction has begun.
    package static func enqueueAtOnce(
        _ question: Question, by caller: Caller, path: String, clock: any AlertClock = .system
    ) throws(AlertError) -> Receipt? {
        // A key is looked up before anything is written; a queue is created under the lock.
        guard question.alert.key == nil, let files = try? QueueFiles(database: path),
            FileIdentity(path: files.database) != nil, (try? WriteAccess.check(files)) != nil
        else { return nil }
        let writer = Writer(files: files, clock: clock, known: LogTail(), busyTime: .zero)
        defer { writer.close() }
        guard (try? writer.open()) != nil else { return nil }
        let bell = Bell(path: files.bell, mode: files.mode)
        bell.create()
        SlotFile(path: files.slot, mode: files.mode).allocate()
        let prepared = PreparedQuestion(question, by: caller)
        guard (try? writer.tryLock()) == true else { return nil }
        defer { writer.unlock() }
        guard (try? writer.begin()) != nil else { return nil }
        let box = ResultBox<PreparedQuestion.Stored>()
        let job = WriteJob(kind: .ask, operation: storing) { context in
            box.put(try prepared.store(in: context))
        }
        let expiries = WriteJob(kind: .upkeep, operation: "store expiries") { context in
            _ = try context.expireOverdue(atMost: 100, by: caller)
        }
        let outcome = writer.commit([job, expiries])
        if let error = outcome.errors[0] { throw error }
        bell.ring()
        writer.checkpointIfDue()
        return box.value.map(prepared.receipt)
    }

    private static let storing = "store the alert"

    private nonisolated(nonsending) func known(
        _ question: Question, of caller: Caller
    ) async throws(AlertError) -> Receipt? {
        guard let key = question.alert.key else { return nil }
        return try await read("look for the key") { [clock] db in
            guard
                let row = try db.checkedAlert(
                    key: key, source: question.source, uid: caller.identity.uid),
                // An expiry that is not stored yet is stored first.
                !row.isOverdue(at: clock.now())
            else { return nil }
            return try db.join(row, question, sequence: try db.lastSequence())
        }
    }
}

extension SQLiteAlertStore {
    nonisolated(nonsending) func storeRun(
        _ id: Alert.ID, _ step: RunStep, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        try await commits.perform(.answer, "log the command") { context in
            guard let row = try context.db.checkedAlert(id) else { throw AlertError.notFound(id) }
            var isNew: Bool
            var content: [UInt8]?
            if case .started(let allowsDefault) = step {
                isNew =
                    try row.record.response?.allowsRun(byDefault: allowsDefault) == true
                    && context.collect(id, by: caller)
                content = row.content
            } else {
                // Only what was started can end.
                isNew = try context.db.hasStartedRun(id)
            }
            if isNew {
                try context.audit(
                    AuditDraft(
                        kind: .ran, record: row.record, content: content,
                        detail: EntryDetail.ran(step)), by: caller)
            }
            guard let row = try context.db.alert(id) else { throw AlertError.notFound(id) }
            return Receipt(record: row.record, isNew: isNew, sequence: context.head.sequence)
        }
    }
}

extension Database {
    /// Whether the log has the start of a command that an alert allowed.
    fileprivate func hasStartedRun(_ id: Alert.ID) throws -> Bool {
        try first(
            "SELECT 1 FROM audit WHERE alert_id = ? AND event = 'ran' LIMIT 1", .integer(id)
        ) { _ in true } ?? false
    }
}
