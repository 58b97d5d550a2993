import AlertCore
import FoundationEssentials
import Glibc
import Linux
import Migrations
import SQLite
import Synchronization
import TextFormats

/// The database file of a queue, which is created, recognised, migrated and opened here.
struct DatabaseFile: Sendable {
    /// Marks the file as ours, "alq3"; see <https://sqlite.org/pragma.html#pragma_application_id>.
    static let applicationID: UInt32 = 0x616c_7133
    /// Marks a backup, "alb3".
    static let backupID: UInt32 = 0x616c_6233
    /// What marked the queues and backups of earlier versions, whose tables or log have other forms:
    /// "alrq" and "alrb", "alq2" and "alb2".
    private static let earlierIDs: [UInt32: String] = [
        0x616c_7271: "0.1.0", 0x616c_7262: "0.1.0", 0x616c_7132: "0.2.0", 0x616c_6232: "0.2.0",
    ]

    /// Why those are refused, and what to do.
    static func isEarlier(_ version: String) -> String {
        """
        was made by alertq \(version), and this version does not read it; it was not touched. Keep \
        alertq \(version) to read it and to archive it, with “alertq audit export” and “alertq \
        history --json”. A new queue needs another path, or this file and those next to it moved to \
        another directory; its keys are new
        """
    }

    let files: QueueFiles

    /// The files that this process has open through SQLite, with a count of each.
    ///
    /// A process loses its POSIX locks when it closes *any* descriptor of a file, so a file in this
    /// list is never opened except through SQLite (<https://sqlite.org/howtocorrupt.html>, 2.2).
    private static let opened = Mutex<[FileIdentity: Opened]>([:])

    private struct Opened {
        /// How many connections use it; negative if they read it without locks.
        var count = 0
        var walFiles: [FileIdentity?]?
    }

    private var path: String { files.database }

    /// Creates and migrates the file if necessary, and opens it for the writer.
    ///
    /// - Throws: ``AlertError/incompatible(path:_:)`` for a file that is not a queue or is newer,
    ///   ``AlertError/backup(path:_:)``; it is not touched then.
    func openForWriting(lock: () throws(AlertError) -> Void) throws(AlertError) -> OpenDatabase {
        let header = try inspect()
        guard header != .backup else { throw isBackupError() }
        if header == .ours {
            let database = try open()
            if try migration(of: database).version() == Migration.all.count {
                try checkSchema(of: database)
                // A crash may have come before the last step of creating it.
                if database.walFiles != nil { return try ready(database) }
            }
        }
        try lock()
        try files.checkOwners(isLocked: true)
        // Another process may have created it in the meantime.
        if try QueueFiles.present(path) == nil { try create() }
        // An empty file that was created beforehand gets the mode of a queue's files.
        if header == .empty, FileIdentity.size(of: path) == 0, chmod(path, files.mode) != 0 {
            throw SystemError.current("set the mode of", path)
        }
        do {
            let database = try open()
            try performing("migrate the database") { try migration(of: database).run() }
        }
        let database = try open()
        try checkSchema(of: database)
        return try ready(database)
    }

    /// Opens the file, which must exist and continue the known history.
    ///
    /// A file that replaced ours has its own alerts with the same ids: a person would answer one
    /// question, and the answer would be stored for another.
    ///
    /// - Parameter head: The end of that history; `nil` for a file with any schema, which is left
    ///   with the settings that it has.
    func openExisting(
        continuing head: AuditHead?, _ access: Database.Access = .readWrite
    ) throws(AlertError) -> OpenDatabase {
        try whileThere { () throws(AlertError) in
            guard try !holdsBackup(insteadOf: head) else { throw isBackupError() }
            let database = try open(access)
            guard let head else { return database }
            try check(database, continuing: head)
            return try ready(database)
        }
    }

    /// Opens the file, which must exist and continue the known history, in a process that writes
    /// nothing to it.
    ///
    /// Without a log no process has the file open, and it is read without SQLite's files next to
    /// it, which need not be there afterwards; so it is where they can't be created. A backup has
    /// no log: one next to it is that of another database.
    ///
    /// - Parameter head: The end of that history; `nil` for a file with any schema.
    /// - Returns: `nil` if SQLite can't read the log where it is: a copy must be read.
    func openForReading(continuing head: AuditHead?) throws(AlertError) -> OpenDatabase? {
        try whileThere { () throws(AlertError) in
            let isBackup = try holdsBackup(insteadOf: head)
            guard let database = isBackup ? try open(.unchanging) : try openInPlace() else {
                return nil
            }
            guard let head else { return database }
            do throws(AlertError) {
                try check(database, continuing: isBackup ? nil : head)
                return database
            } catch {
                // A file that changes meanwhile looks damaged.
                guard database.isUnchanged else { return nil }
                throw error
            }
        }
    }

    /// Whether the file, which must not be empty, holds a backup and no queue.
    private func holdsBackup(insteadOf head: AuditHead?) throws(AlertError) -> Bool {
        switch try inspect() {
        case .ours: return false
        case .backup: return true
        case .empty where head?.sequence ?? 0 > 0: throw anotherQueue("it holds none now")
        case .empty, .missing: throw .storage(operation: "open \(path)", "it holds no queue yet")
        }
    }

    private func openInPlace() throws(AlertError) -> OpenDatabase? {
        if FileIdentity(path: files.wal) != nil || files.hasLog {
            do {
                let database = try openFiles(.readOnly)
                database.handle.busyMilliseconds = 250
                return database
            } catch let error as SQLiteError where error.isRefusedFile {
                // Neither the log nor the shared memory can be opened here.
            } catch {
                throw translated(error, "open \(path)")
            }
        }
        return try openUnlocked()
    }

    /// Opens a file that no process is writing, without locks; whether that remained so is checked
    /// after each read, see ``OpenDatabase/isUnchanged``. Returns `nil` if there is a log, too.
    private func openUnlocked() throws(AlertError) -> OpenDatabase? {
        var seen = files.changes
        if seen.contains(where: { $0?.isRecent == true }) {
            usleep(FileChange.step)
            seen = files.changes
        }
        // Looked for afterwards, so that one that appears later is a change.
        return files.hasLog ? nil : try open(.unchanging, seen: seen)
    }

    /// Reports a file that is removed while it is being opened, which SQLite does in many ways.
    private func whileThere<Result>(
        _ body: () throws(AlertError) -> Result
    ) throws(AlertError) -> Result {
        let found = FileIdentity(path: path)
        do throws(AlertError) {
            return try body()
        } catch {
            let isStillThere = found != nil && found == FileIdentity(path: path)
            switch error {
            case .storage where !isStillThere, .damaged where !isStillThere,
                .busy where !isStillThere:
                throw .deleted(path)
            default: throw error
            }
        }
    }

    /// Makes sure that a database has the schema of this version, and continues the known history,
    /// which is `nil` for a backup.
    private func check(
        _ database: OpenDatabase, continuing head: AuditHead?
    ) throws(AlertError) {
        let known = head ?? .start
        let version = try migration(of: database).version()
        guard version == Migration.all.count else {
            // The known history is of this schema.
            guard known.sequence == 0 else { throw anotherQueue("its schema is \(version) now") }
            throw .incompatible(
                path: path,
                head == nil
                    ? "is a backup that an older version of alertq has made; restore it"
                    : "was made by an older version of alertq (schema \(version), this one needs "
                        + "\(Migration.all.count)); asking or answering something migrates it")
        }
        try checkSchema(of: database)
        let found = try performing("read the audit log of \(path)") {
            try database.handle.auditHead(at: known.sequence)
        }
        guard known.sequence == 0 || found == known else {
            throw anotherQueue("another file took its place")
        }
    }

    private func anotherQueue(_ reason: String) -> AlertError {
        .incompatible(path: path, "is no longer the queue that was opened: \(reason)")
    }

    /// Why nothing is written to a backup.
    private func isBackupError() -> AlertError {
        // If its log can't be read, it still is a backup.
        let end = try? open(.unchanging).handle.first(
            "SELECT seq, at_ms FROM audit ORDER BY seq DESC LIMIT 1"
        ) { (sequence: $0.integer(at: 0), time: $0.integer(at: 1)) }
        guard let end else { return .backup(path: path, nil) }
        let date = Timestamp.text(Timestamp.date(milliseconds: end.time))
        return .backup(path: path, "its log ends with entry \(end.sequence), of \(date)")
    }

    /// The error for all writes if the file is marked as a backup, else `nil`.
    func refusalIfBackup() throws(AlertError) -> AlertError? {
        try inspect() == .backup ? isBackupError() : nil
    }

    /// Opens the file again after a failure, and lets SQLite check its structure.
    func reopenAfterFailure(continuing head: AuditHead) throws(AlertError) -> OpenDatabase {
        let database = try openExisting(continuing: head)
        try performing("check \(path) after a failure") {
            let finding = try database.handle.first("PRAGMA quick_check(1)") { $0.text() }
            guard finding == "ok" else {
                throw AlertError.storage(
                    operation: "use \(path) after a failure", finding ?? "it returned nothing")
            }
        }
        return database
    }

    /// What is in the file.
    private enum Content {
        case missing
        case empty
        case ours
        case backup
    }

    /// Reads the first bytes of the file without SQLite, so that a foreign file stays untouched.
    private func inspect() throws(AlertError) -> Content {
        try files.checkOwners(isLocked: false)
        guard let identity = try QueueFiles.present(path) else { return .missing }
        guard let (bytes, _) = try beginning(of: identity) else { return .ours }
        let header = DatabaseHeader(bytes)
        let (id, version) = (header?.applicationID, header?.userVersion)
        if id != Self.backupID { try QueueFiles.checkPlace(of: path, identity) }
        if !files.isSource, bytes.isEmpty || isHalfMade(bytes) { return .empty }
        guard let id, let version else {
            throw .incompatible(path: path, "is not an SQLite database")
        }
        if let version = Self.earlierIDs[id] {
            throw .incompatible(path: path, Self.isEarlier(version))
        }
        let isOurs = [Self.applicationID, Self.backupID].contains(id)
        // Both numbers are there from the first commit on.
        guard isOurs, version > 0 else {
            throw .incompatible(
                path: path,
                isOurs || hasOwnTables()
                    ? Self.lostNumbers(id, version, of: path)
                    : "is the database of another program, and is not a queue")
        }
        try SchemaMigration.check(Int(version), of: path)
        try checkLength(of: identity)
        return id == Self.backupID ? .backup : .ours
    }

    /// Whether a database without our number has the tables of a queue.
    private func hasOwnTables() -> Bool {
        let count = try? open(.unchanging).handle.first(
            """
            SELECT count(*) FROM sqlite_schema WHERE type = 'table'
                AND name IN ('alerts', 'audit', 'sources', 'upkeep')
            """
        ) { $0.integer() }
        return count == 4
    }

    /// Why a queue is refused that has lost the numbers in its header, as in a database that was made
    /// from the output of `.dump`, which leaves them out.
    private static func lostNumbers(_ id: UInt32, _ version: Int32, of path: String) -> String {
        let numbers = [
            ("application_id", Int64(id), Int64(applicationID)),
            ("user_version", Int64(version), Int64(Migration.all.count)),
        ].filter { id == backupID ? $0.0 == "user_version" : $0.1 != $0.2 }
        let missing = numbers.map { "its \($0.0) is \($0.1)" }.joined(separator: " and ")
        let pragmas = numbers.map { "PRAGMA \($0.0) = \($0.2)" }.joined(separator: "; ")
        return """
            has the tables of a queue, but \(missing): sqlite3's .dump leaves that out; it was not \
            touched. If it is a whole copy of a queue of this version: sqlite3 \(ShellText.quoted(path)) \
            "\(pragmas)", and then: alertq audit verify
            """
    }

    /// The beginning of the file, and its size in bytes; `nil` if this process has locked it
    /// through SQLite.
    private func beginning(
        of identity: FileIdentity
    ) throws(AlertError) -> (bytes: [UInt8], size: Int64)? {
        try Self.opened.withLock { opened throws(AlertError) in
            guard opened[identity]?.count ?? 0 <= 0 else { return nil }
            let raw = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            guard raw >= 0 else { throw SystemError.current("open", path) }
            defer { close(raw) }
            var bytes = [UInt8](repeating: 0, count: DatabaseHeader.byteCount)
            let count = pread(raw, &bytes, bytes.count, 0)
            guard count >= 0 else { throw SystemError.current("read", path) }
            return (Array(bytes[..<count]), FileIdentity(descriptor: raw)?.size ?? 0)
        }
    }

    /// Makes sure that the file has the size that its header says, unless a log has yet to be
    /// copied into it.
    private func checkLength(of identity: FileIdentity) throws(AlertError) {
        var reason = ""
        // Another process may be changing both at this moment.
        for _ in 0...20 {
            guard let (bytes, size) = try beginning(of: identity),
                let expected = DatabaseHeader(bytes)?.fileSize, size != expected, !files.hasLog
            else { return }
            // What follows the last page is not copied.
            if files.isSource, size > expected { return }
            reason = "it has \(size) bytes, and its header says \(expected)"
            usleep(5000)
        }
        guard !files.isSource else { throw .incompatible(path: path, "is incomplete: \(reason)") }
        throw .damaged(operation: "open \(path)", "\(reason); restore a backup")
    }

    /// Whether power was lost while the first commit was being written: some of its pages are
    /// there, the first one is not, and SQLite's journal is there to undo it.
    private func isHalfMade(_ header: [UInt8]) -> Bool {
        header.allSatisfy { $0 == 0 } && FileIdentity.size(of: files.journal) > 0
    }

    /// Creates an empty file with the right mode from the start.
    private func create() throws(AlertError) {
        // Files left by a deleted database don't belong to the new one, and its shared
        // memory may still be mapped by processes that have the deleted one open.
        for file in [files.journal, files.wal, files.sharedMemory] { unlink(file) }
        // Under another name first: the file at `path` must never be opened except through SQLite.
        let draft = try DraftFile(for: path, mode: files.mode)
        defer { draft.discard() }
        draft.leaveToOwner()
        // A program that does not take our lock may have created it.
        _ = try draft.move(to: path)
    }

    /// - Parameter seen: The state of the files before they are read without locks.
    private func open(
        _ access: Database.Access = .readWrite, seen: [FileChange?]? = nil
    ) throws(AlertError) -> OpenDatabase {
        try performing("open \(path)") { try openFiles(access, seen: seen) }
    }

    /// Opens the file, with the log and the shared memory if locks are used.
    ///
    /// These two may be removed or replaced while SQLite opens them, as a restore does it, and what is
    /// committed to removed ones is lost. If the same ones are there before and afterwards, SQLite has
    /// opened those; if it has created them, the file is opened once more.
    private func openFiles(
        _ access: Database.Access, seen: [FileChange?]? = nil
    ) throws -> OpenDatabase {
        for _ in 1...20 {
            guard var database = try connect(access, seen: seen) else {
                // A connection that deleted them as it was closed is forgotten a moment later.
                usleep(5000)
                continue
            }
            if try access == .unchanging || openLog(of: &database) { return database }
        }
        throw AlertError.busy(
            "the log or the shared memory of \(path) was deleted while it was in use; try again")
    }

    /// Opens the file alone; `nil` if SQLite would mix its files with others.
    private func connect(
        _ access: Database.Access, seen: [FileChange?]?
    ) throws -> OpenDatabase? {
        guard let identity = FileIdentity(path: path) else {
            throw SystemError.current("open", path)
        }
        let step = access == .unchanging ? -1 : 1
        guard remember(identity, step) else { return nil }
        let handle = try Database(path: path, access: access) { Self.forget(identity, step) }
        try handle.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
        // A process that is just creating the file has it locked for a moment.
        handle.busyMilliseconds = 5000
        // These need no schema. After the schema is checked, each would have all statements
        // compiled again, and so the schema checked again.
        // Foreign keys are the verification's business: with them, a table that somebody has added
        // could have statements of ours fail, or change it.
        try handle.execute("PRAGMA foreign_keys = OFF; PRAGMA cell_size_check = ON")
        return OpenDatabase(
            handle: handle, schema: SchemaCheck(handle, path: path), identity: identity,
            files: files, seen: seen)
    }

    /// Lets SQLite open the log and the shared memory with the first read, and notes which files
    /// these are; `false` if others may have taken their places. A file without a log has none.
    private func openLog(of database: inout OpenDatabase) throws -> Bool {
        let db = database.handle
        let busy = db.busyMilliseconds
        let end = ContinuousClock.now + .milliseconds(busy)
        db.busyMilliseconds = 0
        defer { db.busyMilliseconds = busy }
        while true {
            do {
                // The connections of a process to one file share the memory that the first of them
                // has opened: no other one may come before that is known to be the right one.
                return try Self.opened.withLock { opened in
                    let before = files.walFiles
                    // This needs no schema, which is still to be checked.
                    _ = try db.first("PRAGMA user_version") { $0.integer() }
                    guard try db.headerInFile()?.hasWAL == true else { return true }
                    // SQLite would use the log of a database that has replaced this one.
                    guard database.identity == FileIdentity(path: path) else {
                        throw AlertError.deleted(path)
                    }
                    let known = opened[database.identity]?.walFiles ?? before
                    guard !before.contains(nil), before == files.walFiles, before == known else {
                        return false
                    }
                    opened[database.identity]?.walFiles = before
                    database.walFiles = before
                    return true
                }
            } catch let error as SQLiteError where error.isBusy && .now < end {
                usleep(5000)
            }
        }
    }

    /// Counts one more connection, unless SQLite would go on with the shared memory that the others
    /// of this process use, which is no longer that of the file.
    ///
    /// Closing a connection without locks would release those of the others.
    private func remember(_ identity: FileIdentity, _ step: Int) -> Bool {
        Self.opened.withLock { all in
            var opened = all[identity] ?? Opened()
            if step > 0, let known = opened.walFiles, known != files.walFiles { return false }
            guard opened.count * step >= 0 else { return false }
            opened.count += step
            all[identity] = opened
            return true
        }
    }

    private static func forget(_ identity: FileIdentity, _ step: Int) {
        opened.withLock { all in
            all[identity]?.count -= step
            if all[identity]?.count == 0 { all[identity] = nil }
        }
    }

    private func migration(of database: OpenDatabase) -> SchemaMigration {
        SchemaMigration(db: database.handle, path: path)
    }

    private func checkSchema(of database: OpenDatabase) throws(AlertError) {
        try performing("read the schema of \(path)") {
            try database.handle.reading { try database.schema.run() }
        }
    }

    /// Applies the settings that every connection needs, and makes sure that they are in force.
    private func ready(_ database: OpenDatabase) throws(AlertError) -> OpenDatabase {
        try performing("open \(path)") {
            let db = database.handle
            db.busyMilliseconds = 250
            try db.execute(
                """
                PRAGMA synchronous = FULL; PRAGMA mmap_size = 0; PRAGMA secure_delete = ON;
                PRAGMA journal_size_limit = 8388608;
                """)
            let journal = try db.first("PRAGMA journal_mode") { $0.text() }
            let synchronous = try db.first("PRAGMA synchronous") { $0.integer() }
            guard journal == "wal", synchronous == 2 else {
                throw AlertError.storage(
                    operation: "open \(path)",
                    "the journal mode is \(journal ?? "unknown") and synchronous "
                        + "\(synchronous ?? -1), but must be wal and 2")
            }
        }
        return database
    }
}

extension DatabaseFile {
    /// Syncs the contents of the write-ahead log before they are returned to anyone.
    ///
    /// A process that was killed between writing its commit and syncing it leaves a commit that the
    /// next process to open the file recovers and reads, but that a power loss could still undo.
    /// Once this connection is open, no commit is visible before it has been synced.
    func syncLog() throws(AlertError) {
        guard let size = FileIdentity(path: files.wal)?.size, size > 0 else { return }
        // SQLite holds no locks on this file, so closing it here loses none.
        let raw = Glibc.open(files.wal, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard raw >= 0 else {
            // Just removed by a program that has copied all of it into the database.
            guard errno != ENOENT else { return }
            throw SystemError.current("open", files.wal)
        }
        defer { close(raw) }
        guard fdatasync(raw) == 0 else { throw SystemError.current("sync", files.wal) }
        try files.syncDirectory()
    }
}

/// A database with its files' identities, so that a replacement is noticed.
struct OpenDatabase {
    let handle: Database
    let schema: SchemaCheck
    let identity: FileIdentity
    let files: QueueFiles
    /// The files that SQLite has opened next to it; `nil` if it opens none.
    var walFiles: [FileIdentity?]?
    /// The state of the files when they were opened without locks; `nil` if SQLite's locks protect
    /// what is read, or no process writes the file, which is marked as a backup.
    var seen: [FileChange?]?
    /// The change counter in the header of the file when it was last looked at.
    fileprivate var changeCounter: UInt32?
    /// Whether the last entry of its log was found intact.
    var isHeadChecked = false

    /// Whether what was read from it is one state of the file.
    var isUnchanged: Bool { seen.map { $0 == files.changes } ?? true }

    /// The error, which ends everything in this process, if another file has been copied over this
    /// one: SQLite would not notice, go on with the pages that it has in memory, and copy the log
    /// into that file. The header of an earlier state has an earlier counter.
    mutating func replacement(notedIn known: LogTail?) throws -> AlertError? {
        guard walFiles != nil else { return nil }
        if let header = try handle.headerInFile(),
            header.applicationID == DatabaseFile.applicationID,
            changeCounter.map({ Int32(bitPattern: header.changeCounter &- $0) >= 0 }) != false
        {
            changeCounter = header.changeCounter
            return nil
        }
        return known?.end(
            because: LogTail.replaced + "another file has been copied over it while it was open",
            path: files.database)
    }

    /// Ends everything in this process if an error shows that the file is damaged; returns the error
    /// to report. What is mixed with the pages of another file looks damaged, too.
    @discardableResult
    mutating func noteDamage(_ error: any Error, in known: LogTail?) -> any Error {
        guard let damage = error as? SQLiteError, damage.isDamagedFile, isAtItsPath else {
            return error
        }
        if let replaced = try? replacement(notedIn: known) { return replaced }
        known?.end(
            because: "can no longer be used: the database is damaged: \(damage)",
            path: files.database)
        return error
    }

    /// Copies all of it, in one transaction, into a file that no other process uses.
    func copy(
        to target: String, _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(AlertError) {
        handle.busyMilliseconds = 5000
        try performing("copy \(files.database)") {
            try handle.reading {
                try handle.copy(to: target, progress)
            }
        }
        guard isUnchanged else {
            throw .busy("\(files.database) was written to while it was read; try again")
        }
    }

    /// Whether all of its files are still at their paths.
    ///
    /// Deleting the log or the shared memory divides the processes into those that still use them
    /// and those that create new ones: they would overwrite each other's commits
    /// (<https://sqlite.org/howtocorrupt.html>, 4.3).
    var isAtItsPath: Bool {
        identity == FileIdentity(path: files.database)
            && (walFiles == nil || walFiles == files.walFiles)
    }
}

extension LogTail {
    static let replaced = "is no longer the queue that was opened: "

    /// Makes this process write nothing more to a file, and returns the error that says so, with
    /// which everything in this process ends.
    @discardableResult
    func end(because reason: String, path: String) -> AlertError {
        let error = AlertError.incompatible(
            path: path,
            reason + "; this process writes nothing more to it, so that no more is lost")
        fail(error)
        return error
    }
}
