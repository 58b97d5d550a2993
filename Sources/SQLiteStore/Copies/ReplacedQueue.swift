import AlertCore
import Glibc
import Linux
import SQLite

/// The queue that a restore replaces, opened, with its log emptied into the database file.
///
/// No process writes to it: the writer's lock is held, and also SQLite's write lock, against
/// programs that don't use the former.
struct ReplacedQueue {
    private let database: OpenDatabase
    let head: AuditHead
    /// The highest id that it has ever assigned.
    let lastID: Alert.ID

    private var db: Database { database.handle }

    /// Opens the queue, and empties its log.
    ///
    /// - Returns: `nil` if there is nothing to lose.
    /// - Throws: ``AlertError/busy(_:)`` while a program reads or writes it,
    ///   ``AlertError/notPermitted(path:_:)``; any other error means that it can't be read.
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
        // Before its first read, a connection does not know the log.
        _ = try db.first("SELECT 1 FROM sqlite_schema LIMIT 1") { $0.integer() }
        // It waits for a program that reads an old state, but not as long as other processes wait
        // for the lock that is held here.
        db.busyMilliseconds = 2500
        guard try db.checkpoint(.truncate) else { throw Self.busy }
        try db.run("BEGIN IMMEDIATE")
        guard FileIdentity(path: database.files.wal)?.size ?? 0 == 0 else { throw Self.busy }
        head = try db.lastHead()
        lastID = try db.lastID()
    }

    private static let busy = AlertError.busy(
        "a program keeps reading or writing the queue; end that program, then try again")

    /// How many of its entries another log does not have.
    func entries(missingIn other: Database) throws -> Int64 {
        var (common, limit) = (Int64(0), min(head.sequence, try other.lastHead().sequence))
        // Each hash covers all earlier entries: if it is equal, they are equal.
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
