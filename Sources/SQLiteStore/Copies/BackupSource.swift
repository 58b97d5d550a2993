import AlertCore
import Glibc
import Linux
import Migrations
import SQLite

/// A backup opened for reading, without creating files next to it where possible.
struct BackupSource {
    private let database: Database
    private let path: String
    /// The file's state when it was opened without locks; `nil` if SQLite's locks protect it, or
    /// the mark of a backup.
    private let seen: FileChange?

    /// Opens a file for reading.
    ///
    /// A file that is marked as a backup has no log; one next to it is that of another database. If
    /// there is neither a log nor shared memory next to any other file, no process is using it, and
    /// it may be in a directory that can't be written; it is read without creating either.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if it is not a queue of a known version,
    ///   ``AlertError/notPermitted(path:_:)`` for one whose log is elsewhere.
    init(_ path: String) throws(AlertError) {
        self.path = path
        let file = (try? QueueFiles(database: path)).map { DatabaseFile(files: $0) }
        if let lengths = try file?.lengthProblem(), lengths.found < lengths.expected {
            throw .invalid("backup", "\(path) is incomplete: \(lengths)")
        }
        if try file?.isFromFirstVersion() == true {
            throw .invalid("backup", "\(path) \(DatabaseFile.firstReason)")
        }
        if (try? file?.isBackup()) == true {
            (database, seen) = (try Self.open(path, asItIs: true), nil)
            return
        }
        if let identity = FileIdentity(path: path), let resolved = realpath(path, nil) {
            defer { free(resolved) }
            try QueueFiles.checkPlace(of: String(cString: resolved), identity)
        }
        let isLogged = ["-wal", "-shm", "-journal"].contains {
            FileIdentity(path: path + $0) != nil
        }
        guard let state = FileChange(path) else { throw SystemError.current("open", path) }
        do throws(AlertError) {
            database = try Self.open(path, asItIs: !isLogged)
            seen = isLogged ? nil : state
        } catch {
            // On a read-only disk an empty log counts as no log.
            let hasCommits = ["-wal", "-journal"].contains {
                (FileIdentity(path: path + $0)?.size ?? 0) > 0
            }
            guard case .storage = error, isLogged, !hasCommits else { throw error }
            database = try Self.open(path, asItIs: true)
            seen = state
        }
    }

    static func open(_ path: String, asItIs: Bool) throws(AlertError) -> Database {
        let db = try storing("open \(path)") {
            asItIs
                ? try Database(path: path, access: .unchanging)
                : try Database(path: path, access: .readOnly)
        }
        db.busyMilliseconds = 5000
        let refusal = { (reason: String) in AlertError.invalid("backup", "\(path) \(reason)") }
        let (id, version): (Int64?, Int)
        do {
            id = try db.first("PRAGMA application_id") { $0.integer() }
            version = try db.first("PRAGMA user_version") { Int($0.integer()) } ?? 0
        } catch let error as SQLiteError where error.isDamage {
            throw refusal("is not an SQLite database")
        } catch {
            throw translated(error, "read \(path)")
        }
        let ids = [DatabaseFile.applicationID, DatabaseFile.backupID].map(Int64.init)
        guard let id, ids.contains(id), version > 0 else {
            throw refusal("is not a queue of alertq")
        }
        guard version <= Migration.all.count else {
            throw refusal("was made by a newer version of alertq (schema \(version))")
        }
        return db
    }

    /// Copies all of it, in one transaction, into a file that no other process uses.
    func copy(
        to target: String, _ progress: (_ done: Int, _ total: Int) -> Void,
        isCancelled: () -> Bool
    ) throws(AlertError) {
        try storing("copy \(path)") {
            try database.reading {
                try database.copy(to: target, progress, isCancelled: isCancelled)
            }
        }
        try checkUnchanged()
    }

    /// Makes sure that the file was not written while it was read without locks.
    private func checkUnchanged() throws(AlertError) {
        guard let seen else { return }
        guard FileChange(path) == seen, (FileIdentity(path: path + "-wal")?.size ?? 0) == 0 else {
            throw .busy("\(path) was written to while it was read; try again")
        }
    }
}
