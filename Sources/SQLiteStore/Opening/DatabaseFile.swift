import AlertCore
import FoundationEssentials
import Glibc
import Linux
import Migrations
import SQLite
import Synchronization

/// The database file of a queue, which is created, recognised, migrated and opened here.
struct DatabaseFile: Sendable {
    /// Marks the file as ours, "alq2"; see <https://sqlite.org/pragma.html#pragma_application_id>.
    static let applicationID: UInt32 = 0x616c_7132
    /// Marks a backup, "alb2".
    static let backupID: UInt32 = 0x616c_6232
    /// Marked the queues and backups of alertq 0.1.0, whose tables are others: "alrq", "alrb".
    private static let firstIDs: [UInt32] = [0x616c_7271, 0x616c_7262]
    /// Why those are refused, and what to do.
    static let firstReason = """
        was made by alertq 0.1.0, and this version does not read it; it was not touched. Keep \
        alertq 0.1.0 to read it and to archive it, with “alertq audit export” and “alertq history \
        --json”. A new queue needs another path, or this file and those next to it moved to \
        another directory; its keys are new
        """
    let files: QueueFiles

    /// The files that this process has open through SQLite, with a count of each.
    ///
    /// A process loses its POSIX locks when it closes *any* descriptor of a file, so a file in this
    /// list is never opened except through SQLite (<https://sqlite.org/howtocorrupt.html>, 2.2).
    private static let opened = Mutex<[FileIdentity: Opened]>([:])

    private struct Opened {
        var count = 0
        /// How many more connections only read it without locks.
        var withoutLocks = 0
        var walFiles: WALFiles?
        var isUnused: Bool { count + withoutLocks == 0 }
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
            if try version(of: database) == Migration.all.count {
                try checkSchema(of: database)
                if try isInWALMode(database) { return try ready(database) }
            }
        }
        try lock()
        try files.checkOwners(isLocked: true)
        // Another process may have created it in the meantime.
        if FileIdentity(path: path) == nil { try create() }
        if header == .empty { try takeOver() }
        let database = try open()
        try storing("migrate the database") { try migration(of: database).run() }
        database.schema.noteReading()
        try checkSchema(of: database)
        return try ready(database)
    }

    /// Opens the file, which must exist and continue the known history.
    ///
    /// A file that replaced ours has its own alerts with the same ids: a person would answer one
    /// question, and the answer would be stored for another.
    func openExisting(
        continuing head: AuditHead, _ access: Database.Access = .readWrite
    ) throws(AlertError) -> OpenDatabase {
        try whileThere { () throws(AlertError) in
            switch try inspect() {
            case .ours: try ready(checked(open(access), continuing: head))
            case .backup: throw isBackupError()
            case .empty where head.sequence > 0: throw anotherQueue("it holds none now")
            case .empty, .missing: throw holdsNothing
            }
        }
    }

    /// Opens the file, which must exist and continue the known history, in a process that writes
    /// nothing to it.
    ///
    /// Without a log no process has the file open, and it is read without SQLite's files next to
    /// it, which need not be there afterwards; so it is where they can't be created.
    ///
    /// - Parameter head: The end of that history; `nil` for a file with any schema.
    /// - Returns: `nil` if SQLite can't read the log where it is: a copy must be read.
    func openForReading(continuing head: AuditHead?) throws(AlertError) -> OpenDatabase? {
        try whileThere { () throws(AlertError) in
            switch try inspect() {
            case .ours:
                guard let database = try openInPlace() else { return nil }
                guard let head else { return database }
                do throws(AlertError) {
                    return try checked(database, continuing: head)
                } catch {
                    // A file that changes meanwhile looks damaged.
                    guard database.isUnchanged else { return nil }
                    throw error
                }
            case .backup: return try openBackup()
            case .empty where head?.sequence ?? 0 > 0: throw anotherQueue("it holds none now")
            case .empty, .missing: throw holdsNothing
            }
        }
    }

    private func openInPlace() throws(AlertError) -> OpenDatabase? {
        if FileIdentity(path: files.wal) != nil || files.hasLog {
            let database = try open(.readOnly)
            do {
                // The first read opens the log and the shared memory.
                _ = try database.handle.first("PRAGMA user_version") { $0.integer() }
                database.handle.busyMilliseconds = 250
                return try located(database)
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
            case .storage where !isStillThere, .busy where !isStillThere: throw .deleted(path)
            default: throw error
            }
        }
    }

    /// Makes sure that a database has the schema of this version, and continues the known history.
    private func checked(
        _ database: OpenDatabase, continuing head: AuditHead
    ) throws(AlertError) -> OpenDatabase {
        let version = try version(of: database)
        guard version == Migration.all.count else {
            // The known history is of this schema.
            guard head.sequence == 0 else { throw anotherQueue("its schema is \(version) now") }
            throw .incompatible(
                path: path,
                "was made by an older version of alertq (schema \(version), this one needs "
                    + "\(Migration.all.count)); asking or answering something migrates it")
        }
        try checkSchema(of: database)
        let found = try storing("read the audit log of \(path)") {
            try database.handle.first(
                "SELECT hash FROM audit WHERE seq = ?", .integer(head.sequence)
            ) { $0.blob() } ?? nil
        }
        guard head.sequence == 0 || found == head.hash else {
            throw anotherQueue("another file took its place")
        }
        return database
    }

    private var holdsNothing: AlertError {
        .storage(operation: "open \(path)", "it holds no queue yet")
    }

    private func anotherQueue(_ reason: String) -> AlertError {
        .incompatible(path: path, "is no longer the queue that was opened: \(reason)")
    }

    /// Opens the file with any schema, to empty its log before a restore.
    ///
    /// - Returns: `nil` if there is no queue in it yet.
    func openUnchecked() throws(AlertError) -> OpenDatabase? {
        switch try inspect() {
        case .ours: return try open()
        case .backup: throw isBackupError()
        case .empty, .missing: return nil
        }
    }

    /// Opens a backup, which no process writes, without locks and without the files next to it: a
    /// log there is not its own.
    private func openBackup() throws(AlertError) -> OpenDatabase {
        let database = try open(.unchanging)
        guard try version(of: database) == Migration.all.count else {
            throw .incompatible(
                path: path, "is a backup that an older version of alertq has made; restore it")
        }
        try checkSchema(of: database)
        return database
    }

    /// Why nothing is written to a backup.
    private func isBackupError() -> AlertError {
        // If its log can't be read, it still is a backup.
        let end = try? openBackup().handle.first(
            "SELECT seq, at_ms FROM audit ORDER BY seq DESC LIMIT 1"
        ) { (sequence: $0.integer(at: 0), time: $0.integer(at: 1)) }
        guard let end else { return .backup(path: path, nil) }
        let date = Timestamp.text(Timestamp.date(milliseconds: end.time))
        return .backup(path: path, "its log ends with entry \(end.sequence), of \(date)")
    }

    /// Whether alertq 0.1.0 made the file, as a queue or as a backup.
    func isFromFirstVersion() throws(AlertError) -> Bool {
        guard let identity = FileIdentity(path: path), let found = try beginning(of: identity),
            let header = DatabaseHeader(found.bytes)
        else { return false }
        return Self.firstIDs.contains(header.applicationID)
    }

    /// Whether the file is marked as a backup.
    func isBackup() throws(AlertError) -> Bool { try inspect() == .backup }

    /// The error for all writes if the file is marked as a backup, else `nil`.
    func refusalIfBackup() throws(AlertError) -> AlertError? {
        try isBackup() ? isBackupError() : nil
    }

    /// Opens the file again after a failure, and lets SQLite check its structure.
    func reopenAfterFailure(continuing head: AuditHead) throws(AlertError) -> OpenDatabase {
        let database = try openExisting(continuing: head)
        try storing("check \(path) after a failure") {
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
        guard let identity = FileIdentity(path: path) else {
            guard errno == ENOENT else { throw SystemError.current("open", path) }
            return .missing
        }
        guard let found = try beginning(of: identity) else { return .ours }
        let isEmpty = found.bytes.isEmpty || isHalfMade(found.bytes)
        let header = DatabaseHeader(found.bytes)
        if header?.applicationID != Self.backupID {
            try QueueFiles.checkPlace(of: path, identity)
        }
        if isEmpty { return .empty }
        guard let header else { throw .incompatible(path: path, "is not an SQLite database") }
        guard !Self.firstIDs.contains(header.applicationID) else {
            throw .incompatible(path: path, Self.firstReason)
        }
        guard [Self.applicationID, Self.backupID].contains(header.applicationID) else {
            throw .incompatible(path: path, "is the database of another program")
        }
        try SchemaMigration.check(Int(header.userVersion), of: path)
        if let lengths = try lengthProblem(found, of: identity) {
            throw .damaged("\(lengths); restore a backup", operation: "open \(path)")
        }
        return header.applicationID == Self.backupID ? .backup : .ours
    }

    private struct Beginning {
        let bytes: [UInt8]
        /// The size of the whole file in bytes.
        let size: Int64
    }

    /// The beginning of the file; `nil` if this process has locked it through SQLite.
    private func beginning(of identity: FileIdentity) throws(AlertError) -> Beginning? {
        try Self.opened.withLock { opened throws(AlertError) in
            guard opened[identity]?.count ?? 0 == 0 else { return nil }
            let raw = Glibc.open(path, O_RDONLY | O_CLOEXEC)
            guard raw >= 0 else { throw SystemError.current("open", path) }
            defer { close(raw) }
            var bytes = [UInt8](repeating: 0, count: DatabaseHeader.byteCount)
            let count = pread(raw, &bytes, bytes.count, 0)
            guard count >= 0 else { throw SystemError.current("read", path) }
            let size = FileIdentity(descriptor: raw)?.size ?? 0
            return Beginning(bytes: Array(bytes[..<count]), size: size)
        }
    }

    /// The size of a file, and a different one that its header says.
    struct Lengths: CustomStringConvertible {
        let found: Int64
        let expected: Int64

        var description: String { "it has \(found) bytes, and its header says \(expected)" }
    }

    /// Compares the size of the file with its header; `nil` if they agree.
    func lengthProblem() throws(AlertError) -> Lengths? {
        guard let identity = FileIdentity(path: path), let found = try beginning(of: identity)
        else { return nil }
        return try lengthProblem(found, of: identity)
    }

    private func lengthProblem(
        _ found: Beginning, of identity: FileIdentity
    ) throws(AlertError) -> Lengths? {
        var found = found
        // Another process may be changing both at this moment.
        for _ in 1...20 where lengths(found) != nil {
            usleep(5000)
            guard let again = try beginning(of: identity) else { break }
            found = again
        }
        return lengths(found)
    }

    /// The sizes that differ, unless a log has yet to be copied into the file.
    private func lengths(_ found: Beginning) -> Lengths? {
        guard let size = DatabaseHeader(found.bytes)?.fileSize, size != found.size else {
            return nil
        }
        return files.hasLog ? nil : Lengths(found: found.size, expected: size)
    }

    /// Whether power was lost while the first commit was being written: some of its pages are
    /// there, the first one is not, and SQLite's journal is there to undo it.
    private func isHalfMade(_ header: [UInt8]) -> Bool {
        header.allSatisfy { $0 == 0 } && (FileIdentity(path: files.journal)?.size ?? 0) > 0
    }

    /// Gives the mode of a queue's files to an empty file that was created beforehand.
    private func takeOver() throws(AlertError) {
        guard FileIdentity(path: path)?.size == 0 else { return }
        guard chmod(path, files.mode) == 0 else {
            throw SystemError.current("set the mode of", path)
        }
    }

    /// Creates an empty file with the right mode from the start.
    private func create() throws(AlertError) {
        // Files left by a deleted database don't belong to the new one, and its shared
        // memory may still be mapped by processes that have the deleted one open.
        for file in [files.journal, files.wal, files.sharedMemory] { unlink(file) }
        // Under another name first: the file at `path` must never be opened except through SQLite.
        let draft = try DraftFile(for: path, mode: files.mode)
        defer { draft.discard() }
        // A program that does not take our lock may have created it.
        _ = try draft.move(to: path)
    }

    /// - Parameter seen: The state of the files before they are read without locks.
    private func open(
        _ access: Database.Access = .readWrite, seen: [FileChange?]? = nil
    ) throws(AlertError) -> OpenDatabase {
        guard let identity = FileIdentity(path: path) else {
            throw SystemError.current("open", path)
        }
        let hasLocks = access != .unchanging
        // A connection that deleted them as it was closed is forgotten a moment later.
        let isRemembered = (1...20).contains { attempt in
            if attempt > 1 { usleep(5000) }
            return remember(identity, hasLocks: hasLocks)
        }
        guard isRemembered else {
            throw .busy(
                "the log or the shared memory of \(path) was deleted while it was in use; "
                    + "try again")
        }
        return try storing("open \(path)") {
            let handle: Database
            do {
                handle = try Database(path: path, access: access) {
                    Self.forget(identity, hasLocks: hasLocks)
                }
            } catch {
                Self.forget(identity, hasLocks: hasLocks)
                throw error
            }
            try handle.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
            // A process that is just creating the file has it locked for a moment.
            handle.busyMilliseconds = 5000
            // These need no schema. After the schema is checked, each would have all statements
            // compiled again, and so the schema checked again.
            try handle.execute("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON")
            return OpenDatabase(
                handle: handle, schema: SchemaCheck(handle, path: path), identity: identity,
                files: files, walFiles: nil, seen: seen)
        }
    }

    /// Counts one more connection, unless SQLite would go on with the shared memory that the others
    /// of this process use, which is no longer that of the file.
    ///
    /// Closing a connection without locks would release those of the others.
    private func remember(_ identity: FileIdentity, hasLocks: Bool) -> Bool {
        Self.opened.withLock { all in
            var opened = all[identity] ?? Opened()
            if hasLocks {
                if let known = opened.walFiles, known != WALFiles(of: files) { return false }
                guard opened.withoutLocks == 0 else { return false }
                opened.count += 1
            } else {
                guard opened.count == 0 else { return false }
                opened.withoutLocks += 1
            }
            all[identity] = opened
            return true
        }
    }

    private static func forget(_ identity: FileIdentity, hasLocks: Bool) {
        opened.withLock { all in
            if hasLocks { all[identity]?.count -= 1 } else { all[identity]?.withoutLocks -= 1 }
            if all[identity]?.isUnused == true { all[identity] = nil }
        }
    }

    private func migration(of database: OpenDatabase) -> SchemaMigration {
        SchemaMigration(db: database.handle, path: path)
    }

    private func version(of database: OpenDatabase) throws(AlertError) -> Int {
        try migration(of: database).version()
    }

    private func checkSchema(of database: OpenDatabase) throws(AlertError) {
        try storing("read the schema of \(path)") { try database.schema.runAlone() }
    }

    /// Whether the last step of creating it was reached; a crash may have come before it.
    private func isInWALMode(_ database: OpenDatabase) throws(AlertError) -> Bool {
        try storing("read the journal mode of \(path)") {
            try database.handle.first("PRAGMA journal_mode") { $0.text() } == "wal"
        }
    }

    /// Applies the settings that every connection needs, and makes sure that they are in force.
    private func ready(_ database: OpenDatabase) throws(AlertError) -> OpenDatabase {
        try storing("open \(path)") {
            let db = database.handle
            db.busyMilliseconds = 250
            try db.execute(
                """
                PRAGMA synchronous = FULL; PRAGMA mmap_size = 0; PRAGMA secure_delete = ON;
                PRAGMA journal_size_limit = 8388608;
                """)
            // From the first read on, the log and the shared memory exist.
            _ = try db.first("SELECT 1 FROM sqlite_schema LIMIT 1") { $0.integer() }
            let journal = try db.first("PRAGMA journal_mode") { $0.text() }
            let synchronous = try db.first("PRAGMA synchronous") { $0.integer() }
            guard journal == "wal", synchronous == 2 else {
                throw AlertError.storage(
                    operation: "open \(path)",
                    "the journal mode is \(journal ?? "unknown") and synchronous "
                        + "\(synchronous ?? -1), but must be wal and 2")
            }
        }
        return try located(database)
    }

    /// The database with the files next to it, which must still be there later.
    private func located(_ database: OpenDatabase) throws(AlertError) -> OpenDatabase {
        let walFiles = WALFiles(of: files)
        // While it was being opened, another database may have replaced it, and SQLite would use
        // that one's log.
        guard database.identity == FileIdentity(path: path) else { throw .deleted(path) }
        Self.opened.withLock { opened in
            if opened[database.identity]?.walFiles == nil {
                opened[database.identity]?.walFiles = walFiles
            }
        }
        return OpenDatabase(
            handle: database.handle, schema: database.schema, identity: database.identity,
            files: files, walFiles: walFiles)
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
        try QueueLocation.sync(files.directory)
    }
}
