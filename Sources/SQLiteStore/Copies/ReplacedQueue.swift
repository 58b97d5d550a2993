import AlertCore
import Glibc
import Linux
import SQLite

/// The queue that a restore replaces, open, with all of it in its database file.
///
/// Nobody writes to it: the writer's lock is held, and SQLite's write lock besides, against
/// programs that don't know the former.
struct ReplacedQueue {
    private let database: OpenDatabase
    let head: AuditHead
    /// The greatest id and the greatest number of a response that it has ever given.
    let lastAlert: Int64
    let lastResponse: Int64

    private var db: Database { database.handle }

    /// Opens the queue, and empties its log.
    ///
    /// - Returns: `nil` where there is nothing that could be lost.
    /// - Throws: ``AlertError/busy(_:)`` while a program reads or writes it,
    ///   ``AlertError/notPermitted(path:_:)``; any other error says that it can't be read.
    static func open(_ files: QueueFiles) throws(AlertError) -> ReplacedQueue? {
        try files.checkOwners(isLocked: true)
        let size = FileIdentity(path: files.database)?.size ?? 0
        guard size > 0 || FileIdentity(path: files.journal)?.size ?? 0 > 0 else { return nil }
        guard let database = try DatabaseFile(files: files).openUnchecked() else {
            throw .storage(operation: "read \(files.database)", "it holds no queue yet")
        }
        return try storing("read \(files.database)") { try ReplacedQueue(database) }
    }

    private init(_ database: OpenDatabase) throws {
        self.database = database
        let db = database.handle
        // Before its first read, a connection knows of no log.
        _ = try db.first("SELECT 1 FROM sqlite_schema LIMIT 1") { $0.integer() }
        // A program that reads an old state of it is waited for, but not for as long as others
        // wait for the lock that is held here.
        db.busyMilliseconds = 2500
        guard try db.checkpoint(.truncate) else { throw Self.busy }
        try db.run("BEGIN IMMEDIATE")
        guard FileIdentity(path: database.files.wal)?.size ?? 0 == 0 else { throw Self.busy }
        head = try db.lastHead()
        lastAlert = try db.lastGiven("alerts", "id")
        lastResponse = try db.lastGiven("responses", "seq")
    }

    private static let busy = AlertError.busy(
        "a program keeps reading or writing the queue; end that program, then try again")

    /// How many entries it has that another log has not.
    func entries(missingIn other: Database) throws -> Int64 {
        var (common, limit) = (Int64(0), min(head.sequence, try other.lastHead().sequence))
        // Each hash covers all entries before: where one is the same, those are.
        while common < limit {
            let middle = common + (limit - common + 1) / 2
            if try db.auditHead(at: middle) == other.auditHead(at: middle) {
                common = middle
            } else {
                limit = middle - 1
            }
        }
        return head.sequence - common
    }
}

extension Database {
    /// The greatest number that a table has given, also to rows that are gone.
    func lastGiven(_ table: String, _ column: String) throws -> Int64 {
        try first(
            """
            SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = ?), 0),
                coalesce((SELECT max(\(column)) FROM \(table)), 0))
            """, .text(table)
        ) { $0.integer() } ?? 0
    }

    /// Has a table go on from a number.
    func goOn(_ table: String, after number: Int64) throws {
        try run("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", .integer(number), .text(table))
        guard changes == 0 else { return }
        try run(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", .text(table), .integer(number))
    }
}
