import CSQLite

/// A copy of a whole database, made page by page.
///
/// The source may be written in the meantime; the read transaction that its connection is in
/// determines which state is copied. Both connections stay on the thread or queue of the copy, and
/// the target's is used for nothing else until the copy is over. Wraps
/// <https://sqlite.org/c3ref/backup_finish.html>.
package final class DatabaseCopy {
    private let source: Database
    private let target: Database
    private var handle: OpaquePointer?

    /// Begins to copy one database over another.
    package init(of source: Database, to target: Database) throws(SQLiteError) {
        self.source = source
        self.target = target
        handle = sqlite3_backup_init(target.connection, "main", source.connection, "main")
        guard handle != nil else {
            throw SQLiteError(target.connection, operation: "begin a copy")
        }
    }

    deinit {
        // An unfinished copy is undone in the target.
        sqlite3_backup_finish(handle)
    }

    /// How many pages have been copied, and their total; known after the first step.
    package var pages: (done: Int, total: Int) {
        let total = Int(sqlite3_backup_pagecount(handle))
        return (total - Int(sqlite3_backup_remaining(handle)), total)
    }

    /// Copies more pages; returns whether they were the last, which completes the copy.
    package func step(_ count: Int32) throws(SQLiteError) -> Bool {
        switch sqlite3_backup_step(handle, count) {
        case SQLITE_OK: return false
        case SQLITE_DONE:
            let code = sqlite3_backup_finish(handle)
            handle = nil
            guard code == SQLITE_OK else { throw error(code, "finish a copy") }
            return true
        case let code: throw error(code, "copy pages")
        }
    }

    private func error(_ code: Int32, _ operation: String) -> SQLiteError {
        SQLiteError(
            code: code, message: String(cString: sqlite3_errstr(code)), operation: operation)
    }
}
