import AlertCore
import AlertTables
import Linux
import SQLite

// The changes and posted entries of the seam, as carried out by this store.
extension SQLiteAlertStore {
    package nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        guard let first = changes.first else { return try await writePosted() }
        var joined: Result<Receipt, AlertError>?
        if changes.count == 1, request == nil, epoch == nil {
            joined = try await join(first, by: caller)
        }
        // A process that ends before the timekeeper's first look stores expiries, too, together with
        // its change.
        if timekeeper?.takeFirstChange() == true {
            writes.post("store expiries") { [caller = self.caller] context in
                _ = try context.expireOverdue(atMost: 100, by: caller)
            }
        }
        if let joined { return [joined] }
        let prepared = changes.map { change -> PreparedQuestion? in
            guard case .ask(var question) = change else { return nil }
            // An asker that could not say that it waits would soon seem to be gone.
            if question.isAwaited { question.isAwaited = (try? waits.prepare()) != nil }
            return PreparedQuestion(question, by: caller)
        }
        let names = RequestedChange.names(of: changes, request, by: caller)
        let (results, due) = try await writes.perform(
            WriteKind(of: changes), first.operation
        ) { [keeper = self.caller, leases] context in
            // The screen may have been lost while this waited for the lock.
            try context.refuseIfOver(epoch.map { !leases.hold($0) } ?? false, names)
            let results = try changes.indices.map { index in
                try context.tryToMake(
                    changes[index], prepared[index], named: names[index], by: caller,
                    keeper: keeper)
            }
            return (results, context.due)
        }
        if let due { timekeeper?.setAlarm(at: due) }
        // A change that was made earlier says nothing about what comes next.
        if request != nil { lookAhead.forget() }
        for case (let change, .success(let receipt)) in zip(changes, results) {
            if case .ask(let question) = change, receipt.isNew, request == nil {
                // Another alert may have left the line.
                if question.join == .replacing { lookAhead.forget() }
                lookAhead.didAsk(receipt, at: clock.now())
            }
            switch change {
            case .resolve(let id, _, _): lookAhead.didResolve(id)
            case .claim, .release: lookAhead.forget()
            default: break
            }
        }
        return results
    }

    /// Writes what was posted.
    private nonisolated(nonsending) func writePosted() async throws(AlertError)
        -> [Result<Receipt, AlertError>]
    {
        try await writes.perform(.upkeep, "store entries of the log") { _ in [] }
    }

    /// The result of asking with a known key, which needs no write, and so no disk space; `nil` if a
    /// change has to be made.
    private nonisolated(nonsending) func join(
        _ change: Change, by caller: Caller
    ) async throws(AlertError) -> Result<Receipt, AlertError>? {
        guard case .ask(let asked) = change, asked.alert.key != nil else { return nil }
        return try await read("look for the key") { [clock] db in
            var (question, row): (Question, AlertRow?) = (asked, nil)
            let find = { key in
                try db.checkedAlert(.key(key, source: asked.source, of: caller.principal))
            }
            if case .numbered = asked.join {
                let (last, next) = try asked.last(find)
                // What becomes of a response is a rule of asking.
                if last?.record.response != nil { return nil }
                (question, row) = (asked.numbered(next - 1), last)
            } else {
                row = try asked.alert.key.flatMap(find)
            }
            guard let row else {
                return asked.mayBeNew ? nil : .failure(.keyNotFound(asked.alert.key ?? ""))
            }
            // An expiry that is not stored yet is stored first.
            guard !row.isOverdue(at: clock.now()) else { return nil }
            do throws(AlertError) {
                return try performing("look for the key") {
                    try row.alert.joined(
                        by: question, at: clock.now(), head: db.lastHead()
                    ) {
                        try db.keyDigest(of: row.record.id)
                    }
                }.map { .success($0) }
            } catch {
                return .failure(error)
            }
        }
    }

    package func post(_ entry: PostedEntry, by caller: Caller) {
        if case .returned = entry { lookAhead.forget() }
        writes.post("record what was on the screen") { [now = clock.now()] context in
            try context.store(entry, at: now, by: caller)
        }
    }

    /// Stores what is due; returns the next moment at which something will be, or `nil`.
    package nonisolated(nonsending) func applyDeadlines() async throws(AlertError) -> ClockReading?
    {
        var due = try await due()
        if due.isNow {
            try await sweep(atMost: .max)
            due = try await self.due()
        }
        return due.next
    }

    /// Whether something is due that can be stored, and when the next thing will be.
    nonisolated(nonsending) func due() async throws(AlertError) -> (
        isNow: Bool, next: ClockReading?
    ) {
        try await read("look for what is due") { [clock, overdueStart] db in
            let now = clock.now()
            let due = try db.due(at: now, from: overdueStart, atMost: 1)
            return (isNow: !due.isEmpty, next: try db.nextDue(at: now))
        }
    }

    /// Stores overdue expiries and ends finished snoozes, in bounded batches; on a full disk only a
    /// hundred expiries, because answers need the reserve, too.
    nonisolated(nonsending) func sweep(atMost batches: Int) async throws(AlertError) {
        do throws(AlertError) {
            for _ in 0..<batches {
                let goesOn = try await writes.perform(
                    .expiry, "store expiries", isOptional: true
                ) { [caller, start = overdueStart.count] context in
                    let expired = try context.expireOverdue(
                        atMost: 100, from: start, by: caller)
                    let awake = try context.endSnoozes(atMost: 500)
                    return expired == 100 || awake == 500
                }
                guard goesOn else { return }
            }
        } catch .storage {
            // An expiry is an answer by policy, and a full disk has room for answers.
            for _ in 0..<10 {
                let expired = try await writes.perform(.answer, "store expiries") {
                    [caller, start = overdueStart.count] context in
                    try context.expireOverdue(atMost: 10, from: start, by: caller)
                }
                guard expired == 10 else { return }
            }
        }
    }
}

extension SQLiteAlertStore {
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
            FileIdentity(path: files.database) != nil, (try? files.checkWriteAccess()) != nil
        else { return nil }
        let writer = Writer(files: files, clock: clock, known: LogTail(), busyTime: .zero)
        defer { writer.close() }
        guard (try? writer.open()) != nil else { return nil }
        let bell = Bell(path: files.bell, mode: files.mode)
        bell.create()
        SlotFile(path: files.slot, mode: files.mode).allocate()
        let prepared = PreparedQuestion(question, by: caller)
        guard (try? writer.lock.tryAcquire()) == true else { return nil }
        defer { writer.lock.release() }
        guard (try? writer.begin()) != nil else { return nil }
        let box = ResultBox<Receipt>()
        let job = WriteJob(
            kind: .ask, operation: Change.ask(question).operation
        ) { (context: WriteContext) in
            box.put(try context.ask(prepared))
        }
        let expiries = WriteJob(
            kind: .upkeep, operation: "store expiries"
        ) { (context: WriteContext) in
            _ = try context.expireOverdue(atMost: 100, by: caller)
        }
        let outcome = writer.commit([job, expiries])
        if let error = outcome.members[0].error { throw error }
        bell.ring()
        writer.checkpointIfDue()
        return box.value
    }
}
