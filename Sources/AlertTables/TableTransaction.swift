import AlertCore
import SQL
import TextFormats

/// A write transaction on the tables of a queue: it reads and writes rows for the rules, which are
/// those of `QueueTransaction`. How statements get to the database is the store's.
package protocol TableTransaction: QueueTransaction, QueueRows {
    var sources: KnownSources { get }
    /// Memory for hashing.
    var input: HashInput { get }
    /// Whether other callers must examine what the members did.
    var concernsOthers: Bool { get set }
    /// How much has been written, in some measure of the store's.
    var writes: Int { get }
    /// The words for a search, where the table of alerts has them.
    func words(of alert: Alert, _ input: Alert.Input) -> Value?

    /// Runs a statement that changes so many rows; any number if that is `nil`.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the database knows by now that it did not.
    func write(_ statement: Statement, changing count: Int?) throws

    /// Writes how many more alerts of a source, or of a principal, wait than before. It has no row
    /// only if the tables were tampered with, which must not block answers.
    func writeCount(of principal: Principal, _ name: String, by difference: Int) throws

    /// Adds a row to `alerts`, with the next id.
    func insertAlert(_ values: [Value], as id: Alert.ID) throws

    /// Adds an entry to the log, which is its new head.
    func insert(_ entry: AuditEntry) throws

    /// Adds a source, and returns its number.
    func insertSource(_ principal: Principal, _ name: String) throws -> Int64

    /// What some statements have returned is no longer true.
    func forget(_ statements: @autoclosure () -> [Statement])

    /// Nor is what any statement has returned.
    func forgetAll()
}

extension TableTransaction {
    /// Runs a statement that changes one row.
    package func write(_ statement: Statement) throws { try write(statement, changing: 1) }

    // For a transaction that reads each time.
    package func forget(_ statements: @autoclosure () -> [Statement]) {}
    package func forgetAll() {}
}

/// The sources that a transaction is about, the principals among them, which are sources without a
/// name.
package final class KnownSources {
    fileprivate struct Name: Hashable {
        let principal: Principal
        let name: ExactText
    }

    fileprivate final class Source {
        /// Whether its row has been looked up.
        var isRead = false
        var row: (id: Int64, pending: Int)?
        /// How many more of its alerts wait than before.
        var change = 0

        /// How many of its alerts wait.
        var waiting: Int { (row?.pending ?? 0) + change }
    }

    /// A source, and the principal that it belongs to.
    fileprivate struct Pair {
        let source: Source
        let principal: Source
    }

    fileprivate private(set) var all: [Name: Source] = [:]
    /// Mostly the next call is about the same one.
    private var last: (name: Name, pair: Pair)?

    package init() {}

    fileprivate func pair(_ principal: Principal, _ name: String) -> Pair {
        let key = Name(principal: principal, name: ExactText(name))
        if let last, last.name == key { return last.pair }
        let pair = Pair(
            source: source(key),
            principal: source(Name(principal: principal, name: ExactText(""))))
        last = (key, pair)
        return pair
    }

    private func source(_ name: Name) -> Source {
        if let source = all[name] { return source }
        let source = Source()
        all[name] = source
        return source
    }
}

// What the rules need.
extension TableTransaction {
    package func alert(_ id: Alert.ID) throws -> StoredAlert? {
        try checkedAlert(.id(id))?.alert
    }

    package func alert(
        key: String, source: String, of principal: Principal
    ) throws -> StoredAlert? {
        try checkedAlert(.key(key, source: source, of: principal))?.alert
    }

    package func hasStartedRun(_ id: Alert.ID) throws -> Bool {
        try hasRow(query.startOfRun(id))
    }

    package func wasRestored(after sequence: Int64) throws -> Bool {
        try hasRow(query.restoration(after: sequence))
    }

    package func made(_ change: RequestedChange) throws -> MadeChange? {
        let found: RequestRow? = try first(query.request(change))
        let oldest = now.wallMilliseconds.subtractingBounded(RequestedChange.lifetime)
        return found.flatMap { $0.time >= oldest ? $0.made : nil }
    }

    package func remember(_ change: RequestedChange, _ made: MadeChange) throws {
        forget([query.request(change)])
        try write(query.forgottenRequests(at: now), changing: nil)
        try write(query.requested(change, made, at: now))
    }

    package func pendingCounts(
        of principal: Principal, source: String
    ) throws -> (source: Int, principal: Int) {
        let pair = try pair(principal, source)
        return (pair.source.waiting, pair.principal.waiting)
    }

    /// A source and its principal, whose rows have been looked up.
    private func pair(_ principal: Principal, _ name: String) throws -> KnownSources.Pair {
        let pair = sources.pair(principal, name)
        if pair.source.isRead { return pair }
        for row in try rows(query.sources(principal, name), as: SourceRow.self) {
            let found = row.name.isEmpty ? pair.principal : pair.source
            found.row = (row.id, row.pending)
        }
        (pair.source.isRead, pair.principal.isRead) = (true, true)
        return pair
    }

    /// The number of the row of a source, or of a principal, which is made if there is none.
    private func row(
        of source: KnownSources.Source, _ principal: Principal, _ name: String
    ) throws -> Int64 {
        let row = try source.row ?? (id: insertSource(principal, name), pending: 0)
        source.row = row
        return row.id
    }

    /// Counts an alert of a source, and so of its principal, that waits or no longer does.
    private func count(_ difference: Int, in pair: KnownSources.Pair) {
        for source in [pair.source, pair.principal] { source.change += difference }
    }

    package func insert(
        _ prepared: PreparedQuestion, as id: Alert.ID, expiry: ClockReading?
    ) throws {
        let (principal, name) = (prepared.caller.principal, prepared.question.source)
        let pair = try pair(principal, name)
        let source = try row(of: pair.source, principal, name)
        _ = try row(of: pair.principal, principal, "")
        try insertAlert(
            prepared.values(
                id: id, source: source, at: now, expiry: expiry,
                entry: head.sequence.addingBounded(1)), as: id)
        count(1, in: pair)
        forget(query.one(id).all)
        if let key = prepared.question.alert.key {
            forget(query.one(key, name, principal).all)
        }
    }

    package func update(_ record: AlertRecord, _ update: AlertUpdate) throws {
        let id = record.id
        switch update {
        case .presented(let moment):
            try write(query.presented(id, at: moment))
            try write(query.turns(of: id, entry: head.sequence), changing: nil)
        case .snoozed(let until, let isRequeued):
            try write(
                query.snoozed(id, until: until, requeuedBy: isRequeued ? head.sequence : nil))
        case .resolved(let response, let givenAt):
            let values = response.values(
                of: record, givenAt: givenAt, at: now, entry: head.sequence)
            try write(
                query.resolved(id, values, words: words(of: record.alert, response.input)))
            count(-1, in: sources.pair(record.source.principal, record.source.name))
        case .superseded(let successor): try write(query.superseded(id, by: successor))
        // The log says whether it was stale.
        case .collected(let moment, _): try write(query.collected(id, at: moment))
        }
        forget(query.one(id).all)
        if let key = record.alert.key {
            forget(query.one(key, record.source.name, record.source.principal).all)
        }
    }

    /// Appends an entry to the audit log, chained to the previous one.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if the clock shows a time that the log can't hold.
    package func append(
        _ draft: AuditDraft, by caller: Caller, concernsOthers: Bool
    ) throws {
        if concernsOthers { self.concernsOthers = true }
        try now.checkYear(of: "clock")
        guard head.sequence < .max else { throw AlertError.usedUp("entries of the audit log") }
        try insert(draft.entry(after: head, at: now, by: caller, input))
        if let id = draft.alert { forget(query.one(id).all) }
    }
}

/// A part of a transaction was refused after it had written something: nothing of the transaction may
/// stay.
package struct HalfDone: Error {
    /// Why it was refused.
    package let error: AlertError

    package init(error: AlertError) { self.error = error }
}

// Members, what becomes due, and what ends a transaction.
extension TableTransaction {
    /// Runs a part of the transaction, which may be refused before it has written anything.
    ///
    /// - Throws: ``HalfDone`` if it was refused later, and what is no refusal.
    package func attempt<Result>(
        _ body: () throws -> Result
    ) throws -> Swift.Result<Result, AlertError> {
        let before = writes
        do {
            return .success(try body())
        } catch let error as AlertError {
            guard writes == before else { throw HalfDone(error: error) }
            return .failure(error)
        }
    }

    /// Makes a change, or refuses it before anything of it is written.
    ///
    /// - Parameter prepared: The question, if the change asks one.
    package func tryToMake(
        _ change: Change, _ prepared: PreparedQuestion?, named name: RequestedChange?,
        by caller: Caller, keeper: Caller
    ) throws -> Result<Receipt, AlertError> {
        try attempt {
            try make(change, prepared, named: name, by: caller, keeper: keeper)
        }.flatMap { $0 }
    }

    /// Stores that the deadlines of some alerts have passed; returns for how many. Those that the log
    /// contradicts are skipped, and those that have ended in another way meanwhile.
    ///
    /// - Parameter limit: How many at most.
    package func expire(
        _ ids: [Alert.ID], atMost limit: Int = .max, by caller: Caller
    ) throws -> Int {
        var expired = 0
        for id in ids where expired < limit {
            guard let alert = try consistentAlert(id)?.alert, alert.isOverdue(at: now) else {
                continue
            }
            try expire(alert, by: caller)
            expired += 1
        }
        return expired
    }

    /// Returns the first alerts whose snooze is over to the queue; returns their number.
    package func endSnoozes(atMost limit: Int) throws -> Int {
        let awake: [Alert.ID] = try rows(query.finishedSnoozes(at: now, limit: limit))
        guard !awake.isEmpty else { return 0 }
        concernsOthers = true
        for id in awake { try write(query.awake(id)) }
        forgetAll()
        return awake.count
    }

    /// Writes how many alerts of each source wait, once for all members.
    package func writeCounts() throws {
        for (name, source) in sources.all where source.change != 0 {
            if let row = source.row {
                try write(query.counted(row.id, by: source.change))
            } else {
                try writeCount(of: name.principal, name.name.text, by: source.change)
            }
        }
    }
}

extension AlertError {
    /// The highest possible row number is taken, which can only happen if the tables were tampered
    /// with.
    package static func usedUp(_ rows: String) -> AlertError {
        .storage(
            operation: "number the \(rows)",
            "the last of them has the greatest possible number, so somebody must have changed the "
                + "queue; restore a backup")
    }
}
