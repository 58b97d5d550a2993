import AlertCore
import AlertTables
import Glibc
import Linux
import SQLite

/// A queue in a file that is copied elsewhere, locked for as long as this exists.
package final class FileCopySource: CopySource {
    package let contents: CopiedQueue
    /// Whose file it is, and who may use it.
    package let status: stat
    private let files: QueueFiles
    private let lock: WriterLock
    private let database: OpenDatabase
    private let caller: Caller

    /// - Throws: ``AlertError/busy(_:)`` while another process writes, and the errors of opening the
    ///   queue.
    package init(path: String, caller: Caller) throws(AlertError) {
        self.caller = caller
        files = try QueueFiles(database: path)
        try files.checkWriteAccess()
        if let file = FileIdentity(path: files.database), file.links > 1 {
            throw .notPermitted(
                path: files.database,
                "it has \(file.links) names, and what is written under another one would be left behind; "
                    + "keep one name, and remove the others, which `find / -samefile PATH` lists")
        }
        lock = WriterLock(path: files.lock, mode: files.mode)
        try lock.acquire(within: GroupCommit.busyTime)
        // Others wait for as long as for a purge that rewrites the database.
        lock.mark(isRewriting: true)
        let database = try DatabaseFile(files: files).openExisting(continuing: .start)
        var status = stat()
        // Of the file that is open, whatever others make its name lead to.
        guard lstat(files.database, &status) == 0, database.isAtItsPath else {
            throw .busy("\(files.database) was replaced while it was opened; try again")
        }
        self.status = status
        contents = try performing("read \(files.database)") {
            let db = database.handle
            try db.run("BEGIN IMMEDIATE")
            try database.schema.run()
            let head = try db.first(
                """
                SELECT seq, hash FROM audit NOT INDEXED
                WHERE event <> 'moved' OR alert_id IS NOT NULL ORDER BY seq DESC LIMIT 1
                """
            ) { AuditHead(sequence: $0.integer(at: 0), hash: $0.blob(at: 1) ?? []) }
            return CopiedQueue(
                head: head ?? .start, firstID: try db.upkeep().firstID,
                alerts: try db.first("SELECT count(*) FROM alerts") { Int($0.integer()) } ?? 0,
                home: nil, move: try db.logEnd().move)
        }
        self.database = database
    }

    deinit {
        // Nothing but the entry of a move that failed is undone.
        if database.handle.isInTransaction { try? database.handle.execute("ROLLBACK") }
        database.handle.emptyLogAtClosing()
        lock.mark(isRewriting: false)
        lock.release()
        Bell(path: files.bell, mode: files.mode).ring()
    }

    package func visit(_ table: CopiedTable, _ body: ([Value]) throws -> Void) throws {
        let limit = table == .audit ? "WHERE seq <= \(contents.head.sequence)" : ""
        let columns = table.columns
        try database.handle.visit(
            "SELECT \(columns.list) FROM \(table.rawValue) \(limit) ORDER BY \(table.order)", []
        ) { row in
            try body(columns.indices.map { row.value(at: Int32($0)) })
            return true
        }
    }

    package func mark(as move: QueueMove) throws {
        if !database.handle.isInTransaction { try database.handle.run("BEGIN IMMEDIATE") }
        let context = try WriteContext(db: database.handle, of: files, now: SystemClock().now())
        try context.append(AuditDraft(move), by: caller, concernsOthers: false)
        try database.handle.run("COMMIT")
        // Without its log the file would take questions again.
        let limit = ContinuousClock.now + GroupCommit.busyTime
        while try !database.handle.checkpoint(.truncate), .now < limit { usleep(5000) }
    }
}

/// A new queue in a file, which appears at its path when it is complete.
package final class FileCopyTarget: CopyTarget {
    private let path: String
    private let files: QueueFiles
    /// Held until it has appeared.
    private let lock: WriterLock
    private let draft: DraftFile
    private let copy: QueueFiles
    /// The status of the file that is copied; `nil` if the queue is on a server.
    private let source: stat?
    private var database: OpenDatabase?
    private var rows = 0
    private let insertions: [CopiedTable: String]

    /// How many rows one transaction takes, so that the log next to the draft stays small.
    private static let batch = 10_000

    /// - Parameter source: The status of the file that is copied; `nil` if the queue is on a server.
    /// - Throws: ``AlertError/storage(operation:_:)`` if there is a file at the path;
    ///   ``AlertError/invalid(_:_:)`` if that is the one that is copied.
    package init(path: String, from source: stat? = nil) throws(AlertError) {
        var found = stat()
        if let source, stat(path, &found) == 0, found.st_dev == source.st_dev,
            found.st_ino == source.st_ino
        {
            throw .sameQueue
        }
        self.source = source
        files = try QueueFiles(database: path)
        self.path = files.database
        if let ending = QueueFiles.endings.first(where: files.database.hasSuffix) {
            throw .invalid("path", "ends in \(ending), as those of files next to a queue do")
        }
        try Self.checkFree(path, files)
        // Nobody else makes a queue there meanwhile.
        lock = WriterLock(path: files.lock, mode: files.mode)
        try lock.acquire(within: GroupCommit.busyTime)
        try Self.checkFree(path, files)
        for log in [files.wal, files.journal] {
            guard try QueueFiles.present(log)?.size ?? 0 > 0 else { continue }
            throw .storage(
                operation: "create \(files.database)",
                "\(log) is left of another database, which would get into it; move it away")
        }
        let target = files.database + "-copy"
        let name = FilePath.name(of: target)
        DraftFile.removeLeftovers(in: files.directory) { $0 == name }
        draft = try DraftFile(for: target, mode: files.mode)
        copy = try QueueFiles(database: draft.path)
        let database = try DatabaseFile(files: copy).openForWriting {}
        try performing("write \(draft.path)") {
            // It is synced before it appears.
            try database.handle.execute("PRAGMA synchronous = OFF; BEGIN IMMEDIATE")
        }
        self.database = database
        insertions = Dictionary(
            uniqueKeysWithValues: CopiedTable.allCases.map { table in
                (
                    table,
                    """
                    INSERT INTO \(table.rawValue) (\(table.columns.list))
                    VALUES (\(table.columns.map { _ in "?" }.list))
                    """
                )
            })
    }

    /// The path by which a log says where a queue goes on.
    package static func place(_ path: String) throws(AlertError) -> String {
        try QueueFiles.path(of: path)
    }

    /// Whether the queue in a file has a log with an entry; `nil` if there is none that can be read.
    package static func holds(_ head: AuditHead, at path: String) -> Bool? {
        guard let files = try? QueueFiles(database: path),
            let database = try? DatabaseFile(files: files).openExisting(
                continuing: .start, .readOnly)
        else { return nil }
        return head == .start || (try? database.handle.auditHead(at: head.sequence)) == head
    }

    private func db() throws -> Database {
        guard let database else {
            throw AlertError.storage(operation: "write \(draft.path)", "it is not open")
        }
        return database.handle
    }

    deinit { lock.release() }

    /// Makes sure that nothing is at a path, not even a link that leads nowhere.
    private static func checkFree(_ path: String, _ files: QueueFiles) throws(AlertError) {
        var status = stat()
        guard lstat(files.database, &status) != 0, lstat(path, &status) != 0 else {
            throw BackupLocation.nameIsTaken(files.database)
        }
    }

    package func insert(_ values: [Value], into table: CopiedTable) throws {
        let db = try db()
        try db.change(insertions[table] ?? "", values)
        rows += 1
        if rows % Self.batch == 0 { try commit() }
    }

    /// Ends a transaction, and begins the next one.
    private func commit() throws {
        let db = try db()
        try db.run("COMMIT")
        _ = try db.checkpoint(.truncate)
        try db.run("BEGIN IMMEDIATE")
    }

    package func finish(_ queue: CopiedQueue, at now: ClockReading) throws -> AuditReport {
        let db = try db()
        try db.change("UPDATE upkeep SET first_id = ?", .integer(queue.firstID))
        while try WriteContext(db: db, of: copy, now: now).indexSlice() { try commit() }
        try db.run("COMMIT")
        var verification = QueueVerification(expecting: queue.savedHead)
        try db.reading { try verification.finish(db, at: now) }
        return verification.report(damage: try db.structuralDamage(strayingFrom: "alerts"))
    }

    package func publish() throws {
        let isWhole = try db().checkpoint(.truncate)
        guard isWhole, FileIdentity.size(of: copy.wal) == 0 else {
            throw AlertError.busy("\(draft.path) is in use by another program")
        }
        database = nil
        for ending in QueueFiles.endings { unlink(draft.path + ending) }
        giveAway()
        try draft.sync()
        unlink(files.sharedMemory)
        guard try draft.move(to: path) else { throw BackupLocation.nameIsTaken(path) }
        try files.syncDirectory()
    }

    /// Lets those use the queue who used the file that was copied, or else the owner of the directory,
    /// even if root has copied it.
    private func giveAway() {
        var status = source ?? stat()
        if source == nil {
            guard stat(files.directory, &status) == 0 else { return }
            status.st_mode = files.mode
        }
        if files.isForGroup { (status.st_gid, status.st_mode) = (.max, files.mode) }
        draft.takeRights(of: status)
        lock.takeRights(of: status)
    }
}
