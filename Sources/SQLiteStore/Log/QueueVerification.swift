import AlertCore
import AlertTables
import SQLite
import TextFormats

/// Rows that a verification reads in ranges of their numbers, each range in one transaction.
struct RowRanges<Contents: Sendable>: Sendable {
    /// How many numbers are in a range.
    let length: Int64
    /// Queries for the lowest and the highest number, from a number on.
    let bounds: [String]
    /// Reads the rows of a range.
    let read: @Sendable (Database, ClosedRange<Int64>) throws -> Contents

    /// The next ranges from a number on, up to a count; none after the last row.
    ///
    /// The first one begins before a gap, and the last one ends with the last row: those that come
    /// later are in later ranges.
    func next(_ count: Int, from start: Int64?, in db: Database) throws -> [ClosedRange<Int64>] {
        guard let start else { return [] }
        let found = try bounds.compactMap { sql in
            try db.first(sql, .integer(start)) { $0.optionalInteger() } ?? nil
        }
        guard let first = found.min(), let last = found.max() else { return [] }
        var ranges = [start...min(last, first.addingBounded(length - 1))]
        while ranges.count < count, let lower = Self.start(after: ranges.last), lower <= last {
            ranges.append(lower...min(last, lower.addingBounded(length - 1)))
        }
        return ranges
    }

    /// Where the ranges after one begin; `nil` if there can be none.
    static func start(after range: ClosedRange<Int64>?) -> Int64? {
        range.flatMap { $0.upperBound == .max ? nil : $0.upperBound + 1 }
    }
}

/// A verification of a queue in a file, and what of it has been read.
struct QueueVerification: Sendable {
    private(set) var verifier: AuditVerifier
    /// From which numbers on the rows have not been read.
    var (nextEntry, nextAlert): (Int64?, Int64?) = (.min, .min)
    /// How many entries were read, each once for the chain and once for its alert.
    private(set) var entriesRead = 0

    init(expecting head: AuditHead?) { verifier = AuditVerifier(expecting: head) }

    /// Adds the next entries of the log.
    mutating func add(_ entries: [LoggedEntry]) {
        entriesRead += entries.count
        for entry in entries { verifier.add(entry) }
    }

    /// Adds what was found about the next alerts.
    mutating func add(_ alerts: CheckedAlerts) {
        entriesRead += alerts.entries
        verifier.add(alerts.problems)
    }

    /// Reads what has not been read yet, and compares the rows as a whole with the log; all of that
    /// is of one moment.
    mutating func finish(_ db: Database, at now: ClockReading) throws {
        let check = { () throws(AlertError) in
            guard !Task.isCancelled else { throw .cancelled("the verification") }
        }
        while let range = try Self.entries.next(1, from: nextEntry, in: db).first {
            try check()
            add(try Self.entries.read(db, range))
            nextEntry = RowRanges<[LoggedEntry]>.start(after: range)
        }
        let alerts = Self.alerts { now }
        while let range = try alerts.next(1, from: nextAlert, in: db).first {
            try check()
            add(try alerts.read(db, range))
            nextAlert = RowRanges<CheckedAlerts>.start(after: range)
        }
        for fault in try db.sourceFaults() { verifier.add(fault) }
        for fault in try db.rows(NamedEntries.query(), read: { NamedEntries.fault($0) }) {
            verifier.add(fault)
        }
        let logged = verifier.alerts.start ?? 1
        do {
            let first = try db.upkeep().firstID
            guard first != logged else { return }
            verifier.add(
                "the next alert would have at least the number \(first), but the log says "
                    + "\(logged)")
        } catch let error as AlertError {
            guard case .inconsistent(_, let reason) = error else { throw error }
            verifier.add(reason)
        }
    }

    /// The report, with the faults that SQLite has found in the file.
    mutating func report(damage: [String]) -> AuditReport {
        for fault in damage { verifier.add("the file is damaged: \(fault)") }
        verifier.end()
        return verifier.report
    }

    /// The entries of the log.
    static let entries = RowRanges<[LoggedEntry]>(
        length: 2000,
        bounds: ["min", "max"].map { "SELECT \($0)(seq) FROM audit NOT INDEXED WHERE seq >= ?" }
    ) { db, sequences in
        try db.loggedEntries(sequences)
    }

    /// The alerts, those that only the log knows included.
    ///
    /// - Parameter now: The time at which a range is read.
    static func alerts(at now: @escaping @Sendable () -> ClockReading) -> RowRanges<CheckedAlerts> {
        RowRanges(
            length: 500,
            bounds: ["min", "max"].flatMap { end in
                [
                    "SELECT \(end)(id) FROM alerts NOT INDEXED WHERE id >= ?",
                    "SELECT \(end)(alert_id) FROM audit INDEXED BY audit_alert WHERE alert_id >= ?",
                ]
            }
        ) { db, ids in
            try db.checkedAlerts(ids, at: now())
        }
    }
}

/// What was found about some alerts.
struct CheckedAlerts: Sendable {
    var problems: [AuditReport.Problem] = []
    /// How many entries they have.
    var entries = 0

    mutating func add(_ trail: AlertTrail, _ faults: [AlertFault]) {
        entries += trail.count
        problems += faults.map { $0.problem(of: trail.id) }
    }
}

// MARK: - Rows as values

extension Database {
    private static let log = """
        SELECT \(AuditRow.columns) FROM audit NOT INDEXED WHERE seq >= ? AND seq <= ? ORDER BY seq
        """

    /// The entries of the log with some numbers.
    fileprivate func loggedEntries(_ sequences: ClosedRange<Int64>) throws -> [LoggedEntry] {
        let input = HashInput()
        return try rows(
            Self.log, .integer(sequences.lowerBound), .integer(sequences.upperBound)
        ) { row in
            guard let entry = try? AuditRow.entry(row) else {
                return LoggedEntry(unreadable: AuditRow.head(row))
            }
            var logged = LoggedEntry(entry, input)
            if entry.event.kind == .erased { logged.erasures = try erasures(entry) }
            return logged
        }
    }

    private enum Erased: Int, ColumnList { case id, erasedSeq }

    /// The alerts that an erasure names, each with the entry that it names itself.
    private func erasures(_ entry: AuditEntry) throws -> [LoggedEntry.Erasure] {
        guard let alerts = entry.erasedAlerts else { return [] }
        return try alerts.ranges.flatMap { range in
            try rows(
                """
                SELECT \(Erased.list) FROM alerts NOT INDEXED
                WHERE id >= ? AND id <= ? ORDER BY id
                """, .integer(range.lowerBound), .integer(range.upperBound)
            ) { row in
                LoggedEntry.Erasure(
                    id: row.integer(Erased.id), sequence: row.optionalInteger(Erased.erasedSeq))
            }
        }
    }

    // Both are read by the ranges of their keys, and without any index that another program may
    // have added; SQLite's check of the file shows that these indexes match their tables.
    private static let alerts = """
        SELECT \(AlertRow.columns)
        FROM alerts NOT INDEXED CROSS JOIN sources NOT INDEXED ON sources.id = alerts.source_id
        WHERE alerts.id >= ? AND alerts.id <= ? ORDER BY alerts.id
        """
    private static let entriesOfAlerts = """
        SELECT \(AuditRow.columns) FROM audit INDEXED BY audit_alert
        WHERE alert_id >= ? AND alert_id <= ? AND seq > 0 ORDER BY alert_id, seq
        """

    /// Compares the alerts with some ids with their entries.
    fileprivate func checkedAlerts(
        _ ids: ClosedRange<Alert.ID>, at now: ClockReading
    ) throws -> CheckedAlerts {
        let bounds = [Value.integer(ids.lowerBound), .integer(ids.upperBound)]
        var trails = try trails(Self.entriesOfAlerts, bounds)
        var next = 0
        var checked = CheckedAlerts()
        var erasures: [Int64: ErasedAlerts] = [:]
        try forEach(Self.alerts, bounds) { row in
            let id = row.integer(AlertRow.Column.id)
            while next < trails.count, trails[next].id < id {
                checked.add(trails[next], trails[next].faultsWithoutAlert)
                next += 1
            }
            if next == trails.count || trails[next].id != id {
                trails.insert(AlertTrail(of: id), at: next)
            }
            defer { next += 1 }
            guard let alert = try? AlertRow(row) else {
                return checked.add(trails[next], trails[next].faultsWithoutAlert)
            }
            if let sequence = alert.alert.remains?.sequence {
                let alerts = try erasures[sequence] ?? erasure(at: sequence)
                erasures[sequence] = alerts
                if alerts?.contains(id) == true { trails[next].addErasure(by: sequence) }
            }
            checked.add(
                trails[next],
                trails[next].allFaults(of: alert.alert, form: alert.formFaults(row), at: now))
        }
        for trail in trails[next...] { checked.add(trail, trail.faultsWithoutAlert) }
        return checked
    }

    private func trails(_ sql: String, _ values: [Value]) throws -> [AlertTrail] {
        var trails: [AlertTrail] = []
        try forEach(sql, values) { row in
            // One that can't be understood is reported as such.
            guard let entry = try? AuditRow.entry(row), let id = entry.event.alertID else { return }
            if trails.last?.id != id { trails.append(AlertTrail(of: id)) }
            trails[trails.count - 1].add(entry)
        }
        return trails
    }
}

extension Database {
    fileprivate func sourceFaults() throws -> [String] {
        var counts = SourceCounts()
        try forEach(
            """
            SELECT \(SourceCounts.Column.list) FROM sources NOT INDEXED LEFT JOIN (
                SELECT source_id, count(*) AS waiting FROM alerts NOT INDEXED
                WHERE outcome IS NULL GROUP BY source_id) ON source_id = id
            ORDER BY id
            """, []
        ) { counts.add($0) }
        return counts.faults
    }
}
