import FoundationEssentials
import Migrations
import SQLite

/// The baseline of the measurements: the same rows through plain SQLite calls, one transaction
/// each, with the same schema, indexes and pragmas, and nothing else.
///
/// As in the queue, each collection is stored along with the next response.
///
/// Its functions are not inlined: inlining them into an async function crashes the compiler of
/// Swift 6.3.1.
final class PlainLoop {
    private let db: Database
    private var sequence: Int64
    /// The alert whose collection is still to be stored.
    private var collected: Int64?
    private let hash = [UInt8](repeating: 7, count: 32)

    /// Opens a file that a store has created.
    init(path: String, busyMilliseconds: Int32 = 5000) throws {
        db = try Database(path: path)
        try db.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
        db.busyMilliseconds = busyMilliseconds
        try db.execute(
            """
            PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL;
            PRAGMA mmap_size = 0; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 1000
            """)
        sequence = try db.first("SELECT coalesce(max(seq), 0) FROM audit") { $0.integer() } ?? 0
        try db.execute(
            """
            INSERT INTO sources (id, principal, name) SELECT * FROM (VALUES (1, '0', 'bench'), (2, '0', ''))
            WHERE NOT EXISTS (SELECT * FROM sources)
            """)
    }

    /// Asks once, as one synced transaction.
    @discardableResult
    @inline(never)
    func ask(_ number: Int) throws -> Int64 {
        try transaction { try insert(number) }
    }

    /// Asks once, while other processes also ask.
    @inline(never)
    func askAmongOthers(_ number: Int) throws {
        _ = try transaction {
            sequence = try db.first("SELECT max(seq) FROM audit") { $0.integer() } ?? 0
            return try insert(number)
        }
    }

    /// How many questions are stored per second, `batch` of them in each synced transaction.
    @inline(never)
    func rate(count: Int, batch: Int) throws -> Double {
        for number in 0..<100 { try ask(number) }
        let start = ContinuousClock.now
        for _ in 0..<(count / batch) {
            try transaction { for number in 0..<batch { _ = try insert(number) } }
        }
        return Double(count) / (ContinuousClock.now - start).inSeconds
    }

    private func insert(_ number: Int) throws -> Int64 {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try db.run(
            """
            INSERT INTO alerts (source_id, pid, host, style, priority, title, message, buttons,
                info, salt, boot, asked_ms, asked_boot_ms, queued_seq)
            VALUES (1, 1, 'host', 'alert', 1, ?, '40 GB', ?, '{}', ?, '\(Self.boot)', ?, ?, ?)
            """,
            .text("Prune old snapshots? \(number)"), .text(Self.buttons),
            .blob(Array(hash[..<16])), .integer(now), .integer(now), .integer(sequence + 1))
        let id = db.lastInsertedID
        try changePending(by: 1)
        try audit("asked", id, now, Self.detail)
        return id
    }

    private func changePending(by change: Int64) throws {
        try db.run("UPDATE sources SET pending = pending + ? WHERE id = 1", .integer(change))
        try db.run("UPDATE sources SET pending = pending + ? WHERE id = 2", .integer(change))
    }

    /// Marks the last response as collected, with its log entry.
    private func collect() throws {
        guard let id = collected.take() else { return }
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try db.run(
            "UPDATE alerts SET collected_ms = ? WHERE id = ?", .integer(now), .integer(id))
        try audit("collected", id, now)
    }

    /// Answers once, with the log entries of the appearance and of the answer.
    @inline(never)
    func answer(_ id: Int64) throws {
        try transaction {
            try collect()
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            try db.run(
                "UPDATE alerts SET presented_ms = ? WHERE id = ?", .integer(now), .integer(id))
            try audit("presented", id, now)
            try db.run(
                """
                INSERT INTO turns (priority, principal_id, source_id, seq)
                VALUES (1, 0, 0, ?1), (1, 2, 0, ?1), (1, 2, 1, ?1)
                ON CONFLICT DO UPDATE SET seq = excluded.seq
                """, .integer(sequence))
            try audit("resolved", id, now)
            try db.run(
                """
                UPDATE alerts SET outcome = 'answered', button_index = 0, resolved_by = 'person',
                    handled = 0, responder = '0', responder_name = 'root', via = 'bench',
                    responder_host = 'host', responder_pid = 1, resolved_ms = ?, resolved_seq = ?
                WHERE id = ?
                """, .integer(now), .integer(sequence), .integer(id))
            try changePending(by: -1)
        }
        collected = id
    }

    static let buttons =
        #"[{"id":"yes","title":"Yes"},{"id":"no","role":"cancel","title":"No"}]"#

    /// As long as the detail that the queue logs for a question.
    private static let detail = String(repeating: "d", count: 102)
    /// As long as the name of a boot.
    private static let boot = "3f0d6c52-8a1e-4f6b-9c0d-2b7e5a914c38 time:[4026531834]"

    private func audit(
        _ event: String, _ id: Int64, _ now: Int64, _ detail: String? = nil
    ) throws {
        sequence += 1
        try db.run(
            """
            INSERT INTO audit (seq, at_ms, event, alert_id, source, principal, user, via, host, boot,
                pid, content, detail, previous, hash)
            VALUES (?, ?, ?, ?, 'bench', '0', 'root', 'bench', 'host',
                '\(Self.boot)', 1, ?, ?, ?, ?)
            """,
            .integer(sequence), .integer(now), .text(event), .integer(id), .blob(hash),
            .optional(detail), .blob(hash), .blob(hash))
    }

    private func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try db.execute("BEGIN IMMEDIATE")
        let result = try body()
        try db.execute("COMMIT")
        // Several processes may write, so those that compete read the next number from the log.
        return result
    }
}
