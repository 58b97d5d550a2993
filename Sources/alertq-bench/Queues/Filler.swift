import AlertQueue
import AlertTables
import FoundationEssentials
import Migrations
import SQLite
import TextFormats

/// Writes the rows of a ``FilledQueue``.
final class Filler {
    /// How far apart the alerts were asked, and how long each waited.
    private static let step: Int64 = 100
    private static let batch = 100_000

    private let db: Database
    private let start: Int64
    private let host = ProcessIdentity.current.host
    private var head = AuditHead.start
    private var sourceIDs: [String: Int64] = [:]
    private let boot = SystemClock().now().boot

    init(path: String, count: Int) throws {
        db = try Database(path: path)
        try db.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
        start = Timestamp.milliseconds(Date()) - Int64(count + 1) * Self.step
        // No other process has the file yet, and a half-filled one is thrown away: no log, no
        // syncs.
        try db.execute(
            """
            PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
            PRAGMA cache_size = -500000
            """)
    }

    /// Writes the resolved alerts first, then those that wait.
    func fill(resolved: Int, waiting: Int, entries: Int) throws {
        for first in stride(from: 0, to: resolved + waiting, by: Self.batch) {
            try db.execute("BEGIN")
            for number in first..<min(first + Self.batch, resolved + waiting) {
                try add(number, isResolved: number < resolved, entries: entries)
            }
            try db.execute("COMMIT")
        }
        try db.execute(
            """
            UPDATE sources SET pending =
                (SELECT count(*) FROM alerts WHERE source_id = sources.id AND outcome IS NULL);
            INSERT INTO sources (principal, name, pending)
                SELECT principal, '', sum(pending) FROM sources GROUP BY principal;
            PRAGMA journal_mode = WAL
            """)
    }

    private func add(_ number: Int, isResolved: Bool, entries: Int) throws {
        let sample = Sample(number)
        let alert = sample.alert(number)
        let id = Int64(number + 1)
        let asked = start + Int64(number) * Self.step
        var salt = [UInt8](repeating: 0, count: 8)
        withUnsafeBytes(of: UInt64(number)) { salt += Array($0) }
        let source = try sourceID(sample.source)
        let moment = reading(asked)
        let hasExpired = isResolved && sample.outcome == .expired
        let expiry = hasExpired ? reading(asked + Self.step) : nil
        try db.run(
            """
            INSERT INTO alerts (id, source_id, pid, host, key, style, priority, title, message,
                buttons, info, salt, boot, asked_ms, asked_boot_ms, expires_ms, expires_boot_ms,
                presented_ms, queued_seq)
            VALUES (?, ?, 1, ?, ?, 'alert', 1, ?, ?, ?, '{}', ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(id), .integer(source), .text(host), .optional(alert.key), .text(alert.title),
            .optional(alert.message), .text(sample.hasButtons ? Self.buttons : "[]"), .blob(salt),
            .text(boot), .integer(asked), .integer(asked), .optional(expiry?.wallMilliseconds),
            .optional(expiry?.bootMilliseconds),
            .optional(isResolved && entries > 3 ? asked : nil), .integer(head.sequence + 1))
        let content = AuditEntry.content(of: alert, salt: salt)
        let entry = Entry(id: id, source: sample.source, at: asked, content: content)
        try audit(
            .asked, entry,
            detail: .asked(
                EntryDetail.Asked(
                    at: moment, expiry: expiry, of: alert, isAwaited: false,
                    leaves: AuditEntry.leaves(of: alert),
                    key: KeyDigest(of: alert, source: sample.source))))
        guard isResolved else { return }
        if entries > 3 { try audit(.presented, entry) }
        try respond(sample, entry, resolved: asked + Self.step, isCollected: entries > 2)
    }

    private func reading(_ milliseconds: Int64) -> ClockReading {
        ClockReading(
            wallMilliseconds: milliseconds, bootMilliseconds: milliseconds, boot: boot)
    }

    private func respond(
        _ sample: Sample, _ entry: Entry, resolved: Int64, isCollected: Bool
    ) throws {
        let isTimer =
            sample.outcome == .expired || (sample.outcome == .dismissed && sample.by == .system)
        let isCollected = isCollected && sample.isCollected
        try db.run(
            """
            UPDATE alerts SET outcome = ?, button_index = ?, resolved_by = ?, handled = 0,
                responder = ?, responder_name = ?, via = ?, responder_host = ?, responder_pid = ?,
                resolved_ms = ?, resolved_seq = ?, collected_ms = ? WHERE id = ?
            """,
            .text(sample.outcome.rawValue), .integer(sample.button), .text(sample.by.rawValue),
            .optional(isTimer ? nil : "1000"),
            .optional(isTimer ? nil : Sample.user), .optional(isTimer ? nil : "terminal"),
            .optional(isTimer ? nil : "desk"), .optional(isTimer ? nil : Int64(4711)),
            .integer(resolved), .integer(head.sequence + 1),
            .optional(isCollected ? resolved : nil), .integer(entry.id))
        var entry = entry
        entry.at = resolved
        let detail: EntryDetail? =
            switch sample.outcome {
            case .expired:
                .expired(.init(at: reading(resolved), isEarly: false, isUnseen: false))
            case .cancelled: .cancelled(isHandled: false)
            case .answered, .dismissed, .withdrawn: nil
            }
        try audit(.resolved, entry, sample, detail: detail)
        if isCollected { try audit(.collected, entry) }
    }

    private func sourceID(_ name: String) throws -> Int64 {
        if let id = sourceIDs[name] { return id }
        try db.run("INSERT INTO sources (principal, name) VALUES ('0', ?)", .text(name))
        sourceIDs[name] = db.lastInsertedID
        return db.lastInsertedID
    }

    private struct Entry {
        let id: Alert.ID
        let source: String
        var at: Int64
        let content: [UInt8]
    }

    private func audit(
        _ kind: AlertEvent.Kind, _ entry: Entry, _ sample: Sample? = nil,
        detail: EntryDetail? = nil
    ) throws {
        let asker = Caller(
            Account(uid: 0, name: "root"), via: "bench",
            process: ProcessIdentity(host: host, pid: 1))
        let person = Caller(
            Account(uid: 1000, name: Sample.user), via: "terminal",
            process: ProcessIdentity(host: "desk", pid: 4711))
        let role = sample.flatMap { $0.button >= 0 ? Sample.buttons[$0.button].role : nil }
        var link = AuditEntry(
            event: AlertEvent(
                sequence: head.sequence + 1, kind: kind,
                at: Timestamp.date(milliseconds: entry.at), alertID: entry.id,
                source: entry.source, outcome: sample?.outcome, buttonIndex: sample?.button,
                by: sample?.by, responder: sample == nil ? asker : person),
            buttonRole: role, loginUID: nil, session: nil, boot: boot,
            content: kind == .collected ? nil : entry.content, detail: detail?.text,
            previous: head.hash)
        link.hash = link.computedHash
        try insert(link)
        head = AuditHead(sequence: link.event.sequence, hash: link.hash)
    }

    private func insert(_ link: AuditEntry) throws {
        try db.run(
            """
            INSERT INTO audit (\(AuditEntry.columns.list))
            VALUES (\(AuditEntry.columns.map { _ in "?" }.list))
            """, link.values)
    }

    private static let buttons =
        #"[{"id":"yes","title":"Yes"},{"id":"no","role":"cancel","title":"No"},"#
        + #"{"id":"later","title":"Later"}]"#
}
