import AlertCore
import FoundationEssentials
import Glibc
import Linux
import Migrations
import SQLite
import Synchronization

/// The database file of a queue, which is created, recognised, migrated and opened here.
struct DatabaseFile: Sendable {
    /// Marks the file as ours, "alrq"; see <https://sqlite.org/pragma.html#pragma_application_id>.
    static let applicationID: UInt32 = 0x616c_7271
    /// Marks a backup, "alrb".
    static let backupID: UInt32 = 0x616c_7262
    let files: QueueFiles

    /// The files that this process has open through SQLite, with a count of each.
    ///
    /// A process loses its POSIX locks when it closes *any* descriptor of a file, so a file in this
    /// list is never opened except through SQLite (<https://sqlite.org/howtocorrupt.html>, 2.2).
    private static let opened = Mutex<[FileIdentity: Opened]>([:])

    private struct Opened {
        var count = 0
        var walFiles: WALFiles?
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
    ///
    /// - Parameter isReadOnly: Whether the connection must not write, not even by mistake.
    func openExisting(
        continuing head: AuditHead, isReadOnly: Bool = false
    ) throws(AlertError) -> OpenDatabase {
        let found = FileIdentity(path: path)
        do throws(AlertError) {
            return try openInspected(continuing: head, isReadOnly)
        } catch {
            // SQLite reports a file that is removed while it is open in many ways.
            let isStillThere = found != nil && found == FileIdentity(path: path)
            switch error {
            case .storage where !isStillThere, .busy where !isStillThere: throw .deleted(path)
            default: throw error
            }
        }
    }

    private func openInspected(
        continuing head: AuditHead, _ isReadOnly: Bool
    ) throws(AlertError) -> OpenDatabase {
        switch try inspect() {
        case .ours: break
        case .backup:
            guard isReadOnly else { throw isBackupError() }
            return try openBackup()
        case .empty where head.sequence > 0: throw anotherQueue("it holds none now")
        case .empty, .missing: throw .storage(operation: "open \(path)", "it holds no queue yet")
        }
        let database = try open(isReadOnly: isReadOnly)
        _ = try version(of: database)
        try checkSchema(of: database)
        let found = try storing("read the audit log of \(path)") {
            try database.handle.first(
                "SELECT hash FROM audit WHERE seq = ?", .integer(head.sequence)
            ) { $0.blob() } ?? nil
        }
        guard head.sequence == 0 || found == head.hash else {
            throw anotherQueue("another file took its place")
        }
        return try ready(database)
    }

    private func anotherQueue(_ reason: String) -> AlertError {
        .incompatible(path: path, "is no longer the queue that was opened: \(reason)")
    }

    /// Opens the file for `doctor`, with any schema.
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
        guard let identity = FileIdentity(path: path) else {
            throw SystemError.current("open", path)
        }
        let handle = try storing("open \(path)") {
            let handle = try Database(path: path, access: .unchanging)
            try handle.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
            try handle.execute("PRAGMA cell_size_check = ON; PRAGMA query_only = ON")
            return handle
        }
        let database = OpenDatabase(
            handle: handle, schema: SchemaCheck(handle, path: path), identity: identity,
            files: files, walFiles: nil)
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

    /// The beginning of the file; `nil` if this process has it open through SQLite.
    private func beginning(of identity: FileIdentity) throws(AlertError) -> Beginning? {
        try Self.opened.withLock { opened throws(AlertError) in
            guard opened[identity] == nil else { return nil }
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
        let hasLog = [files.wal, files.journal].contains {
            (FileIdentity(path: $0)?.size ?? 0) > 0
        }
        return hasLog ? nil : Lengths(found: found.size, expected: size)
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

    private func open(isReadOnly: Bool = false) throws(AlertError) -> OpenDatabase {
        guard let identity = FileIdentity(path: path) else {
            throw SystemError.current("open", path)
        }
        // A connection that deleted them as it was closed is forgotten a moment later.
        guard (1...20).contains(where: { remember(identity, after: $0 == 1 ? 0 : 5000) }) else {
            throw .busy(
                "the log or the shared memory of \(path) was deleted while it was in use; "
                    + "try again")
        }
        return try storing("open \(path)") {
            let handle: Database
            do {
                handle = try Database(path: path) { Self.forget(identity) }
            } catch {
                Self.forget(identity)
                throw error
            }
            try handle.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
            // A process that is just creating the file has it locked for a moment.
            handle.busyMilliseconds = 5000
            // These need no schema. After the schema is checked, each would have all statements
            // compiled again, and so the schema checked again.
            try handle.execute(
                """
                PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;
                PRAGMA query_only = \(isReadOnly ? "ON" : "OFF")
                """)
            return OpenDatabase(
                handle: handle, schema: SchemaCheck(handle, path: path), identity: identity,
                files: files, walFiles: nil)
        }
    }

    /// Counts one more connection, unless SQLite would go on with the shared memory that the others
    /// of this process use, which is no longer that of the file.
    private func remember(_ identity: FileIdentity, after microseconds: UInt32) -> Bool {
        usleep(microseconds)
        return Self.opened.withLock { opened in
            if let known = opened[identity]?.walFiles, known != WALFiles(of: files) { return false }
            opened[identity, default: Opened()].count += 1
            return true
        }
    }

    private static func forget(_ identity: FileIdentity) {
        opened.withLock { opened in
            opened[identity]?.count -= 1
            if opened[identity]?.count == 0 { opened[identity] = nil }
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
