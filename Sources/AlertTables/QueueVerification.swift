import AlertCore
import SQL
import TextFormats

/// Rows that a verification reads in ranges of their numbers.
package protocol VerifiedRows: Sendable {
    associatedtype Contents: Sendable

    /// How many numbers are in a range.
    var length: Int64 { get }

    /// Statements for the lowest and the highest number, from a number on.
    func bounds(_ query: Query, from start: Int64) -> [Statement]

    /// Reads the rows of a range.
    func read(_ tables: some QueueTables, _ range: ClosedRange<Int64>) throws -> Contents
}

extension VerifiedRows {
    /// The next ranges from a number on, up to a count; none after the last row.
    ///
    /// The first one begins before a gap, and the last one ends with the last row: those that come
    /// later are in later ranges.
    package func next(
        _ count: Int, from start: Int64?, in tables: some QueueTables
    ) throws -> [ClosedRange<Int64>] {
        guard let start else { return [] }
        let found = try bounds(tables.query, from: start).compactMap {
            try tables.first($0, as: Bound.self)?.number
        }
        guard let first = found.min(), let last = found.max() else { return [] }
        var ranges = [start...min(last, first.addingBounded(length - 1))]
        while ranges.count < count, let lower = Self.start(after: ranges.last), lower <= last {
            ranges.append(lower...min(last, lower.addingBounded(length - 1)))
        }
        return ranges
    }

    /// Where the ranges after one begin; `nil` if there can be none.
    package static func start(after range: ClosedRange<Int64>?) -> Int64? {
        range.flatMap { $0.upperBound == .max ? nil : $0.upperBound + 1 }
    }
}

/// A number, or NULL if there are no rows.
private struct Bound: TableRow {
    let number: Int64?

    init(_ row: borrowing some SQLRow & ~Copyable) { number = row.optionalInteger() }
}

/// A verification of a queue, and what of it has been read.
package struct QueueVerification: Sendable {
    package private(set) var verifier: AuditVerifier
    /// From which numbers on the rows have not been read.
    package var (nextEntry, nextAlert): (Int64?, Int64?) = (.min, .min)
    /// How many entries were read, each once for the chain and once for its alert.
    package private(set) var entriesRead = 0

    package init(expecting head: AuditHead?) { verifier = AuditVerifier(expecting: head) }

    /// Adds the next entries of the log.
    package mutating func add(_ entries: [LoggedEntry]) {
        entriesRead += entries.count
        for entry in entries { verifier.add(entry) }
    }

    /// Adds what was found about the next alerts.
    package mutating func add(_ alerts: ComparedAlerts) {
        entriesRead += alerts.entries
        verifier.add(alerts.problems)
    }

    package mutating func add(_ faults: [String]) { for fault in faults { verifier.add(fault) } }

    /// Reads what has not been read yet, and compares the rows as a whole with the log; all of that
    /// is of one moment.
    ///
    /// - Parameter isRead: Called after each range, with the number of entries; its error ends this.
    package mutating func readRest(
        _ tables: some QueueTables, at now: ClockReading, _ isRead: (Int) throws -> Void
    ) throws {
        let (entries, alerts) = (EntriesOfLog(), AlertsWithEntries { now })
        while let range = try entries.next(1, from: nextEntry, in: tables).first {
            add(try entries.read(tables, range))
            nextEntry = EntriesOfLog.start(after: range)
            try isRead(entriesRead)
        }
        while let range = try alerts.next(1, from: nextAlert, in: tables).first {
            add(try alerts.read(tables, range))
            nextAlert = AlertsWithEntries.start(after: range)
            try isRead(entriesRead)
        }
        add(try tables.faultsOfOtherRows())
    }

    package mutating func report() -> AuditReport {
        verifier.end()
        return verifier.report
    }
}

// MARK: - Entries

/// The entries of the log.
package struct EntriesOfLog: VerifiedRows {
    package let length: Int64 = 2000

    package init() {}

    package func bounds(_ query: Query, from start: Int64) -> [Statement] {
        [query(Self.first, .integer(start)), query(Self.last, .integer(start))]
    }

    private static let first = bound("min")
    private static let last = bound("max")

    private static func bound(_ end: String) -> SQLText {
        SQLText { sql in
            """
            SELECT \(end)(seq) FROM audit\(sql.notIndexed) WHERE \(sql.own("audit"))seq >= $2
            """
        }
    }

    package func read(
        _ tables: some QueueTables, _ range: ClosedRange<Int64>
    ) throws -> [LoggedEntry] {
        var read = ReadEntries()
        let statement = tables.query(
            Self.entries, .integer(range.lowerBound), .integer(range.upperBound))
        try tables.collect(statement, into: &read)
        for (index, alerts) in read.erasures {
            read.entries[index].erasures = try tables.erasures(alerts)
        }
        return read.entries
    }

    private static let entries = SQLText { sql in
        """
        SELECT \(AuditRow.columns) FROM audit\(sql.notIndexed)
        WHERE \(sql.own("audit"))seq >= $2 AND seq <= $3 ORDER BY seq
        """
    }
}

private struct ReadEntries: RowCollector {
    var entries: [LoggedEntry] = []
    /// Those of erasures among them, with the alerts that they name.
    var erasures: [(index: Int, alerts: ErasedAlerts)] = []
    private let input = HashInput()

    mutating func add(_ row: borrowing some SQLRow & ~Copyable) {
        guard let entry = try? AuditRow.entry(row) else {
            return entries.append(LoggedEntry(unreadable: AuditRow.head(row)))
        }
        if let alerts = entry.erasedAlerts { erasures.append((entries.count, alerts)) }
        entries.append(LoggedEntry(entry, input))
    }
}

// MARK: - Alerts

/// The alerts with their entries, those that only the log knows included.
package struct AlertsWithEntries: VerifiedRows {
    package let length: Int64 = 500
    /// The time at which a range is read.
    private let time: @Sendable () -> ClockReading

    package init(_ time: @escaping @Sendable () -> ClockReading) { self.time = time }

    package func bounds(_ query: Query, from start: Int64) -> [Statement] {
        Self.bounds.map { query($0, .integer(start)) }
    }

    private static let bounds = ["min", "max"].flatMap { end in
        [
            SQLText { sql in
                """
                SELECT \(end)(id) FROM alerts\(sql.notIndexed) WHERE \(sql.own("alerts"))id >= $2
                """
            },
            SQLText { sql in
                """
                SELECT \(end)(alert_id) FROM audit\(sql.indexed(by: "audit_alert"))
                WHERE \(sql.own("audit"))alert_id >= $2
                """
            },
        ]
    }

    // Both are read by the ranges of their keys, and without any index that another program may
    // have added; SQLite's check of the file shows that these indexes match their tables.
    private static let alerts = SQLText { sql in
        """
        SELECT \(AlertRow.columns) FROM alerts\(sql.notIndexed)
        CROSS JOIN sources\(sql.notIndexed)
        WHERE \(sql.own("alerts"))\(sql.same("sources", "alerts"))sources.id = alerts.source_id
            AND alerts.id >= $2 AND alerts.id <= $3
        ORDER BY alerts.id
        """
    }
    private static let entries = SQLText { sql in
        """
        SELECT \(AuditRow.columns) FROM audit\(sql.indexed(by: "audit_alert"))
        WHERE \(sql.own("audit"))\(Query.isNumbered(sql))
            AND alert_id >= $2 AND alert_id <= $3
        ORDER BY alert_id, seq
        """
    }
    private static let erasure = SQLText { sql in
        """
        SELECT detail FROM audit\(sql.notIndexed)
        WHERE \(sql.own("audit"))seq = $2 AND event = 'erased'
        """
    }

    /// Compares the alerts with some ids with their entries.
    package func read(
        _ tables: some QueueTables, _ ids: ClosedRange<Int64>
    ) throws -> ComparedAlerts {
        let bounds = [Value.integer(ids.lowerBound), .integer(ids.upperBound)]
        let now = time()
        var read = ReadTrails()
        try tables.collect(tables.query(Self.entries, bounds), into: &read)
        var trails = read.trails
        var next = 0
        var compared = ComparedAlerts()
        var erasures: [Int64: ErasedAlerts] = [:]
        for row in try tables.rows(tables.query(Self.alerts, bounds), as: VerifiedAlert.self) {
            while next < trails.count, trails[next].id < row.id {
                compared.add(trails[next], trails[next].faultsWithoutAlert)
                next += 1
            }
            if next == trails.count || trails[next].id != row.id {
                trails.insert(AlertTrail(of: row.id), at: next)
            }
            defer { next += 1 }
            guard let alert = row.alert else {
                compared.add(trails[next], trails[next].faultsWithoutAlert)
                continue
            }
            if let sequence = alert.remains?.sequence {
                let alerts = try erasures[sequence] ?? erased(by: sequence, tables)
                erasures[sequence] = alerts
                if alerts?.contains(row.id) == true { trails[next].addErasure(by: sequence) }
            }
            compared.add(
                trails[next], trails[next].allFaults(of: alert, form: row.faults, at: now))
        }
        for trail in trails[next...] { compared.add(trail, trail.faultsWithoutAlert) }
        return compared
    }

    /// The alerts whose texts were erased according to the entry with a number.
    private func erased(by sequence: Int64, _ tables: some QueueTables) throws -> ErasedAlerts? {
        let statement = tables.query(Self.erasure, .integer(sequence))
        return try tables.first(statement, as: ErasureDetail.self)?.alerts
    }
}

private struct ReadTrails: RowCollector {
    var trails: [AlertTrail] = []

    mutating func add(_ row: borrowing some SQLRow & ~Copyable) {
        // One that can't be understood is reported as such.
        guard let entry = try? AuditRow.entry(row), let id = entry.event.alertID else { return }
        if trails.last?.id != id { trails.append(AlertTrail(of: id)) }
        trails[trails.count - 1].add(entry)
    }
}

/// What was found about some alerts.
package struct ComparedAlerts: Sendable {
    fileprivate var problems: [AuditReport.Problem] = []
    /// How many entries they have.
    fileprivate var entries = 0

    fileprivate mutating func add(_ trail: AlertTrail, _ faults: [AlertFault]) {
        entries += trail.count
        problems += faults.map { $0.problem(of: trail.id) }
    }
}

/// An alert, unless its row can't be understood, and what is wrong with its row alone.
private struct VerifiedAlert: TableRow {
    let id: Alert.ID
    let alert: StoredAlert?
    let faults: [String]

    init(_ row: borrowing some SQLRow & ~Copyable) {
        id = row.integer(AlertRow.Column.id)
        let read = try? AlertRow(row)
        (alert, faults) = (read?.alert, read?.formFaults(row) ?? [])
    }
}

private struct ErasureDetail: TableRow {
    let alerts: ErasedAlerts?

    init(_ row: borrowing some SQLRow & ~Copyable) {
        alerts = ErasedAlerts(detail: row.optionalText())
    }
}
