import FoundationEssentials
import SQLite

extension SQLiteAlertStore {
    package nonisolated(nonsending) func next(
        for presenters: [String], only: Alert.ID?, except: [Alert.ID], prefersQuestions: Bool
    ) async throws(AlertError) -> Upcoming {
        let names = StoredJSON.encode(presenters)
        return try await read("look for the next alert") { [clock] db in
            let now = clock.now()
            let isDue = try db.isDue(at: now)
            var refused: [Alert.ID: AlertError] = [:]
            var next: AlertRow?
            // What the log contradicts is never shown, and keeps nothing else from the screen.
            while refused.count < 100 {
                do {
                    let others = except + refused.keys
                    var row: AlertRow?
                    if prefersQuestions {
                        row = try db.first(
                            for: names, only: only, except: others, hasButtons: true, at: now)
                    }
                    row = try row ?? db.first(for: names, only: only, except: others, at: now)
                    next = try row.map(db.checked)
                    break
                } catch let error as AlertError {
                    guard case .inconsistent(let id?, _) = error, refused[id] == nil else {
                        throw error
                    }
                    refused[id] = error
                }
            }
            return Upcoming(
                record: next?.record, expiry: next?.expiry,
                waiting: try next.map { try db.ready(besides: $0.record.id) } ?? WaitingAlerts(),
                needsSweep: isDue, refused: refused, sequence: try db.lastSequence())
        }
    }

    package nonisolated(nonsending) func waiting(besides id: Alert.ID) async throws(AlertError)
        -> WaitingAlerts
    {
        try await read("count what waits") { try $0.ready(besides: id) }
    }

    package nonisolated(nonsending) func due() async throws(AlertError) -> Due {
        try await read("look for what is due") { [clock] db in
            let now = clock.now()
            return Due(isNow: try db.isDue(at: now), next: try db.nextDue(at: now))
        }
    }

    package nonisolated(nonsending) func record(_ id: Alert.ID) async throws(AlertError)
        -> AlertRecord
    {
        let record = try await read("read alert \(id)") { [clock] db in
            try db.checkedAlert(id)?.visible(at: clock.now())
        }
        guard let record else { throw .notFound(id) }
        return withState(record)
    }

    package nonisolated(nonsending) func found(_ id: Alert.ID) async throws(AlertError) -> Enqueued
    {
        let found = try await read("read alert \(id)") { db -> Enqueued? in
            guard let row = try db.checkedAlert(id) else { return nil }
            return Enqueued(
                record: row.record, isJoined: true, expiry: row.expiry,
                sequence: try db.lastSequence())
        }
        guard let found else { throw .notFound(id) }
        return found
    }

    package nonisolated(nonsending) func record(
        key: String, source: String, of caller: Caller
    ) async throws(AlertError) -> AlertRecord {
        let record = try await read("look for the key") { [clock] db -> AlertRecord? in
            try db.checkedAlert(key: key, source: source, uid: caller.identity.uid)?
                .visible(at: clock.now())
        }
        guard let record else { throw .keyNotFound(key) }
        return withState(record)
    }

    package nonisolated(nonsending) func pending(
        source: String? = nil, after: Alert.ID? = nil, limit: Int
    ) async throws(AlertError) -> [AlertRecord] {
        let records = try await read("list what waits") { [clock] db in
            try db.waiting(source: source, after: after, limit: limit, at: clock.now())
                .compactMap { try db.alert($0)?.record }
        }
        return records.map(withState)
    }

    package nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await read("count what waits") { [clock] in try $0.pendingCount(at: clock.now()) }
    }

    package nonisolated(nonsending) func uncollected(
        handler: String, after: Alert.ID, limit: Int
    ) async throws(AlertError) -> [Alert.ID] {
        try await read("look for uncollected responses") { db in
            try db.rows(
                """
                SELECT alert_id FROM responses WHERE handler = ? AND collected_ms IS NULL
                    AND seq > coalesce((SELECT seq FROM responses WHERE alert_id = ?), 0)
                ORDER BY seq LIMIT ?
                """, [.text(handler), .integer(after), .integer(limit)]
            ) { $0.integer(0) }
        }
    }

    package nonisolated(nonsending) func uncollected(
        _ filter: HistoryFilter, behind place: Int64, limit: Int
    ) async throws(AlertError) -> UncollectedPage {
        // How many responses one look passes: few enough for a short transaction.
        let span: Int64 = 10_000
        return try await read("look for uncollected responses") { db in
            let last = try db.first("SELECT max(seq) FROM responses") { $0.integer(0) } ?? 0
            // Numbers may be far apart, where somebody has changed the file.
            let next = try db.first(
                "SELECT seq FROM responses WHERE seq > ? ORDER BY seq LIMIT 1", .integer(place)
            ) { $0.integer(0) }
            let end = min(max(last, place), max(place, next ?? place).addingBounded(span))
            let found = try db.rows(
                """
                SELECT \(AlertRow.columns), responses.seq FROM responses
                CROSS JOIN alerts ON alerts.id = responses.alert_id
                CROSS JOIN sources ON sources.id = alerts.source_id
                WHERE responses.seq > ?1 AND responses.seq <= ?2 AND collected_ms IS NULL
                    AND responses.handler IS NULL
                    AND (?3 IS NULL OR responses.source = ?3)
                    AND (?4 IS NULL OR outcome = ?4) AND (?5 IS NULL OR button = ?5)
                    AND (?6 IS NULL OR resolved_ms >= ?6)
                    AND (?7 IS NULL OR user = ?7) AND (?8 IS NULL OR via = ?8)
                ORDER BY responses.seq LIMIT ?9
                """,
                [
                    .integer(place), .integer(end), .optional(filter.source),
                    .optional(filter.outcome?.rawValue), .optional(filter.button),
                    .optional(filter.since.map(Timestamp.milliseconds)),
                    .optional(filter.user), .optional(filter.via), .integer(limit),
                ]
            ) { (try AlertRow($0).record, $0.integer(AlertRow.count)) }
            let isFull = found.count == limit
            return UncollectedPage(
                records: found.map(\.0), place: isFull ? found.last?.1 ?? end : end,
                isEnd: !isFull && end >= last)
        }
    }

    package nonisolated(nonsending) func isCancelRequested(_ id: Alert.ID) async throws(AlertError)
        -> Bool
    {
        try await read("look for a cancel") { db in
            let isMarked = try db.first(
                "SELECT cancel_requested FROM alerts WHERE id = ? AND state = 'queued'",
                .integer(id)
            ) { $0.integer(0) == 1 }
            // The mark is quickly looked at; what counts is who the log says has requested it.
            return try isMarked == true && db.cancelRequest(of: id) != nil
        }
    }

    /// The record, with its state as the slot knows it.
    private func withState(_ record: AlertRecord) -> AlertRecord {
        guard record.state == .queued, let holder = slot.holder(), holder.isThere,
            holder.alert == record.id
        else { return record }
        var record = record
        record.state = .presented
        return record
    }
}

extension Database {
    /// The first alert of the queue that one of the presenters may show, but for some; `only`
    /// limits that to one alert.
    fileprivate func first(
        for presenters: String, only: Alert.ID?, except: [Alert.ID], hasButtons: Bool = false,
        at now: ClockReading
    ) throws -> AlertRow? {
        if let only {
            guard !except.contains(only), let row = try alert(only), row.record.response == nil,
                row.record.snoozedUntil == nil
            else { return nil }
            return row
        }
        let candidates = Candidates(
            presenters: presenters, except: except, hasButtons: hasButtons)
        return try first(of: candidates, at: now)
    }
}
