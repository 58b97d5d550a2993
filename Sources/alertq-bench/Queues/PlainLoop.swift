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
    private var turn: Int64 = 0
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
            PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA synchronous = FULL;
            PRAGMA mmap_size = 0; PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 1000
            """)
        sequence = try db.first("SELECT coalesce(max(seq), 0) FROM audit") { $0.integer() } ?? 0
        try db.execute(
            """
            INSERT INTO sources (id, uid, name) VALUES (1, 0, 'bench') ON CONFLICT DO NOTHING;
            INSERT INTO accounts (uid) VALUES (0) ON CONFLICT DO NOTHING
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
                info, salt, boot, asked_ms, asked_boot_ms, account, turn)
            VALUES (1, 1, 'host', 'alert', 1, ?, '40 GB', ?, '{}', ?, 'boot', ?, ?, 0, ?)
            """,
            .text("Prune old snapshots? \(number)"), .text(Self.buttons),
            .blob(Array(hash[..<16])), .integer(now), .integer(now), .integer(turn + 1))
        let id = db.lastInsertedID
        try changePending(by: 1)
        try audit("asked", id, now, Self.detail)
        return id
    }

    private func changePending(by change: Int64) throws {
        try db.run("UPDATE sources SET pending = pending + ? WHERE id = 1", .integer(change))
        try db.run("UPDATE accounts SET pending = pending + ? WHERE uid = 0", .integer(change))
    }

    /// Marks the last response as collected, with its log entry.
    private func collect() throws {
        guard let id = collected.take() else { return }
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try db.run(
            "UPDATE responses SET collected_ms = ? WHERE alert_id = ?", .integer(now), .integer(id))
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
            turn += 1
            try db.run(
                """
                INSERT INTO turns (priority, uid, turn, shown) VALUES (1, 0, ?, ?)
                ON CONFLICT DO UPDATE SET turn = excluded.turn, shown = excluded.shown
                """, .integer(turn), .integer(sequence))
            try db.run(
                """
                INSERT INTO responses (alert_id, source, outcome, button, button_index, resolved_by,
                    uid, user, via, host, pid, resolved_ms)
                VALUES (?, 'bench', 'answered', 'yes', 0, 'person', 0, 'root', 'bench', 'host', 1,
                    ?)
                """, .integer(id), .integer(now))
            try db.run("UPDATE alerts SET state = 'resolved' WHERE id = ?", .integer(id))
            try changePending(by: -1)
            try audit("resolved", id, now)
        }
        collected = id
    }

    static let buttons =
        #"[{"id":"yes","title":"Yes"},{"id":"no","role":"cancel","title":"No"}]"#

    /// As long as the detail that the queue logs for a question.
    private static let detail = String(repeating: "d", count: 156)

    private func audit(
        _ event: String, _ id: Int64, _ now: Int64, _ detail: String? = nil
    ) throws {
        sequence += 1
        try db.run(
            """
            INSERT INTO audit (seq, at_ms, event, alert_id, source, uid, user, via, host, pid,
                content, detail, previous, hash)
            VALUES (?, ?, ?, ?, 'bench', 0, 'root', 'bench', 'host', 1, ?, ?, ?, ?)
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
