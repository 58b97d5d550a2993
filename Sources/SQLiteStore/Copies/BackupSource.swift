import AlertCore
import Glibc
import Linux
import Migrations
import SQLite

/// A backup opened for reading, without creating files next to it where possible.
struct BackupSource {
    private let database: Database
    private let path: String
    /// The file's state when it was opened without locks; `nil` if SQLite's locks protect it.
    private let seen: FileState?

    /// Opens a file for reading.
    ///
    /// If there is neither a log nor shared memory next to it, no process is using it, and it may
    /// be in a directory that can't be written; it is read without creating either.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if it is not a queue of a known version.
    init(_ path: String) throws(AlertError) {
        self.path = path
        let isLogged = ["-wal", "-shm", "-journal"].contains {
            FileIdentity(path: path + $0) != nil
        }
        guard let state = FileState(path) else { throw SystemError.current("open", path) }
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
                ? try Database(path: uri(path), access: .unchanging)
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
        guard id == Int64(DatabaseFile.applicationID), version > 0 else {
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
        guard FileState(path) == seen, (FileIdentity(path: path + "-wal")?.size ?? 0) == 0 else {
            throw .busy("\(path) was written to while it was read; try again")
        }
    }

    /// See <https://sqlite.org/uri.html>.
    private static func uri(_ path: String) -> String {
        let escaped = path.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "/", "-", "_", ".": return String(scalar)
            default: return "%" + Hex.text([byte])
            }
        }
        // Two slashes at the beginning would introduce a host name.
        let scheme = path.hasPrefix("/") ? "file://" : "file:"
        return scheme + escaped.joined() + "?immutable=1"
    }
}

/// The attributes that show whether a file was written; see stat(2).
private struct FileState: Equatable {
    private let numbers: [Int64]

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        numbers = [
            Int64(bitPattern: UInt64(status.st_ino)), Int64(status.st_size),
            Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
        ]
    }
}
