import AlertCore
import SQLite

/// The state that members of a write transaction share. It never leaves the writer's thread.
final class WriteContext {
    let db: Database
    /// The moment of the current members: those that waited when the transaction began share one,
    /// and so do those that join it together later.
    private(set) var now: ClockReading
    private var knownAskedMoment: String?
    /// The end of the audit log, as it grows during the transaction.
    var head: AuditHead
    /// The end of the audit log before the transaction.
    let start: AuditHead
    /// Whether other callers must examine what the members did; set by a member that does more than
    /// its caller knows, such as storing the expiry of another caller's alert.
    var concernsOthers = false
    private var sources: [SourceName: SourceCount] = [:]
    /// How many alerts of an account waited before the transaction.
    private var accounts: [UInt32: Int] = [:]
    /// The changes to the numbers of waiting alerts, by source and by account.
    private var pendingChanges: [Int64: Int] = [:]
    private var accountChanges: [UInt32: Int] = [:]

    /// The last rounds of the sources that have asked, and the number of writes at that time.
    private var rounds: [Round: Int64] = [:]
    private var writesInRounds = 0
    /// The first alert from the next id on that already has an entry.
    private var firstLogged: Database.FirstLogged?
    /// The rows of questions that have not been inserted yet.
    private var gathered: [QuestionRow] = []
    private var gathersRows = false
    /// The last number that an alert got, while rows are gathered.
    private var lastAlert: Alert.ID?
    /// Memory for hashing.
    let input = HashInput()

    private struct Round: Hashable {
        let source: Int64
        let priority: Alert.Priority
    }

    private struct SourceName: Hashable {
        let uid: UInt32
        let name: ExactText
    }

    private struct SourceCount {
        let id: Int64
        /// How many of its alerts waited before the transaction.
        let pending: Int
    }

    init(db: Database, now: ClockReading) throws {
        self.db = db
        self.now = now
        head = try db.lastHead()
        start = head
    }

    /// Prepares for more members, which run at some moment.
    ///
    /// - Parameter members: How many members the transaction then has.
    func expect(_ members: Int, at now: ClockReading) {
        gathersRows = gathersRows || members >= QuestionRow.gathered
        self.now = now
        knownAskedMoment = nil
    }

    /// What the details of all questions of the current members end with.
    var askedMoment: String {
        let moment = knownAskedMoment ?? EntryDetail.askedMoment(now)
        knownAskedMoment = moment
        return moment
    }

    /// The members' changes to the audit log.
    var change: LogTail.Commit {
        LogTail.Commit(start: start, head: head, concernsOthers: concernsOthers)
    }

    /// A number that grows with every change by a member.
    var writes: Int { db.totalChanges + gathered.count }

    /// The row of a source, or `nil` if it has none, and how many of its alerts wait.
    func source(uid: UInt32, name: String) throws -> (id: Int64?, pending: Int) {
        let key = SourceName(uid: uid, name: ExactText(name))
        guard let source = try sources[key] ?? stored(key) else { return (nil, 0) }
        sources[key] = source
        return (source.id, source.pending + pendingChanges[source.id, default: 0])
    }

    /// Creates the row of a source that has none, and returns its number.
    func addSource(uid: UInt32, name: String) throws -> Int64 {
        // Rounds are looked up again afterwards.
        try insertGathered()
        try db.change(
            "INSERT INTO sources (uid, name) VALUES (?, ?)", .integer(Int64(uid)), .text(name))
        let source = SourceCount(id: db.lastInsertedID, pending: 0)
        sources[SourceName(uid: uid, name: ExactText(name))] = source
        return source.id
    }

    /// How many alerts of an account wait.
    func pending(ofAccount uid: UInt32) throws -> Int {
        let stored = try accounts[uid] ?? Int(UInt32(clamping: db.pending(ofAccount: uid)))
        accounts[uid] = stored
        return stored + accountChanges[uid, default: 0]
    }

    /// The round in which the next alert of a source waits.
    ///
    /// Gain, including ``checkUnknown(_:)``: a lookup for each ask takes 13 % of the writer's time
    /// with 512 waiting tasks (`perf record alertq-bench ask`, files in memory).
    func nextRound(of source: Int64, uid: UInt32, _ priority: Alert.Priority) throws -> Int64 {
        if writes != writesInRounds { rounds.removeAll() }
        let round = Round(source: source, priority: priority)
        let last =
            try rounds[round]
            ?? max(try db.turn(of: uid, priority), try db.lastTurn(of: source, priority))
        rounds[round] = last.addingBounded(1)
        return last.addingBounded(1)
    }

    /// Records that everything written so far belongs to questions, which change no other source's
    /// round.
    func noteAsked() { writesInRounds = writes }

    /// Makes sure that no entry is about the alert that is being asked: that would mean that its
    /// number was assigned before, and that the alert was removed.
    ///
    /// The numbers only grow during a transaction.
    func checkUnknown(_ id: Alert.ID) throws {
        let logged = try firstLogged ?? db.firstLogged(from: id)
        firstLogged = logged
        guard case .alert(id, let entry) = logged else { return }
        throw AlertError.inconsistent(
            nil,
            "the next alert would have the number \(id), which entry \(entry) already records")
    }

    /// Counts an alert of a source that begins to wait, or ends.
    func changePending(of source: Int64, uid: UInt32, by change: Int) {
        pendingChanges[source, default: 0] += change
        accountChanges[uid, default: 0] += change
    }

    /// Inserts the row of a question, or gathers it if many members share the transaction; returns
    /// its number.
    ///
    /// Gain of that: 64 waiting tasks store 1.2 times as many asks, and 512 tasks 1.15 times as
    /// many (`alertq-bench ask --sync-delay 60`, files in memory; against a statement for each).
    func insert(_ row: QuestionRow) throws -> Alert.ID {
        guard gathersRows else { return try insertAlone(row) }
        let last = try lastAlert ?? db.lastGiven("alerts", "id")
        guard last < .max else {
            // SQLite refuses that in its own way.
            try insertGathered()
            return try insertAlone(row)
        }
        let id = last + 1
        lastAlert = id
        gathered.append(row)
        gathered[gathered.count - 1].id = id
        if gathered.count == QuestionRow.gathered { try insertGathered() }
        return id
    }

    private func insertAlone(_ row: QuestionRow) throws -> Alert.ID {
        try db.change(QuestionRow.insertion) { row.bind(to: &$0) }
        return db.lastInsertedID
    }

    /// Inserts the rows that have been gathered, before anything reads them.
    func insertGathered() throws {
        if gathered.count == QuestionRow.gathered {
            try db.change(QuestionRow.insertions, rows: gathered.count) { parameters in
                for row in gathered { row.bind(to: &parameters) }
            }
        } else {
            for row in gathered { _ = try insertAlone(row) }
        }
        gathered.removeAll(keepingCapacity: true)
    }

    /// Writes what the members share: rows that wait, and the counts, once for all of them.
    func finish() throws {
        try insertGathered()
        for (id, change) in pendingChanges where change != 0 {
            try db.change(
                "UPDATE sources SET pending = pending + ? WHERE id = ?", .integer(change),
                .integer(id))
        }
        // A number that was tampered with is found by the checks, and must not block answers.
        for (uid, change) in accountChanges where change != 0 {
            try db.run(
                "UPDATE accounts SET pending = max(0, pending + ?) WHERE uid = ?",
                .integer(change), .integer(Int64(uid)))
            guard db.changes == 0 else { continue }
            try db.change(
                "INSERT INTO accounts (uid, pending) VALUES (?, ?)", .integer(Int64(uid)),
                .integer(max(0, change)))
        }
        pendingChanges.removeAll()
        accountChanges.removeAll()
    }

    private func stored(_ key: SourceName) throws -> SourceCount? {
        try db.source(uid: key.uid, name: key.name.text).map {
            SourceCount(id: $0.id, pending: Int(UInt32(clamping: $0.pending)))
        }
    }
}
