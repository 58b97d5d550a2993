import CSQLite

/// An open database file with its compiled statements.
///
/// It is deliberately not `Sendable`: each database lives on one thread or queue, and is opened
/// without SQLite's mutexes (`SQLITE_OPEN_NOMUTEX`).
package final class Database {
    let connection: OpaquePointer
    private var statements: [StatementText: PreparedStatement] = [:]
    /// A filter of the history may have any of many thousands.
    private static let maximumStatements = 256
    private let wal = WALPages()
    /// How long a statement waits for another connection's lock, in milliseconds; see
    /// <https://sqlite.org/c3ref/busy_timeout.html>.
    package var busyMilliseconds: Int32 = 0 {
        didSet {
            if busyMilliseconds != oldValue { sqlite3_busy_timeout(connection, busyMilliseconds) }
        }
    }
    private let onClose: () -> Void

    /// What a connection may do with its file.
    package enum Access: Sendable {
        /// Reads and writes an existing file.
        case readWrite
        /// Reads and writes a file, and creates it first if it does not exist.
        case create
        /// Reads and writes an existing file that is not reached through a symbolic link.
        case readWriteNoFollow
        /// Reads an existing file.
        case readOnly
        /// Reads a file that no process writes in the meantime, without locks, log or shared
        /// memory; see <https://sqlite.org/uri.html#uriimmutable>.
        case unchanging
    }

    /// Opens a database file.
    ///
    /// Reading untrusted files is hardened as <https://sqlite.org/security.html> advises; no
    /// checkpoint happens automatically, neither on commit nor on closing.
    ///
    /// `onClose` is called once the file is no longer open, also if it can't be opened.
    package init(
        path: String, access: Access = .readWrite, onClose: @escaping () -> Void = {}
    ) throws(SQLiteError) {
        var handle: OpaquePointer?
        let mode =
            switch access {
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readWriteNoFollow: SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW
            case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readOnly: SQLITE_OPEN_READONLY
            case .unchanging: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let name = access == .unchanging ? Self.unchangingURI(of: path) : path
        let code = sqlite3_open_v2(name, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let error = SQLiteError(handle, operation: "open the database")
            sqlite3_close_v2(handle)
            onClose()
            throw error
        }
        connection = handle
        self.onClose = onClose
        _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        setDefensive(true)
        _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        let context = Unmanaged.passUnretained(wal).toOpaque()
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<WALPages>.fromOpaque(context).takeUnretainedValue().count = Int(pages)
                return SQLITE_OK
            }, context)
    }

    /// See <https://sqlite.org/uri.html>.
    private static func unchangingURI(of path: String) -> String {
        let escaped = path.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            switch scalar {
            case "A"..."Z", "a"..."z", "0"..."9", "/", "-", "_", ".": return String(scalar)
            default: return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        // Two slashes at the beginning would introduce a host name.
        let scheme = path.hasPrefix("/") ? "file://" : "file:"
        return scheme + escaped.joined() + "?immutable=1"
    }

    /// Sets whether SQL is prevented from changing the schema table and the like, which is the
    /// default. See `SQLITE_DBCONFIG_DEFENSIVE` in
    /// <https://sqlite.org/c3ref/c_dbconfig_defensive.html>.
    package func setDefensive(_ isDefensive: Bool) {
        _ = csqlite_db_config_flag(connection, SQLITE_DBCONFIG_DEFENSIVE, isDefensive ? 1 : 0)
    }

    /// Defines an SQL function for this connection: whether its argument is at most a version.
    ///
    /// A trigger that calls it only lets connections write that have defined it and know the
    /// version, and makes all others fail; see <https://sqlite.org/c3ref/create_function.html>.
    package func defineVersionGuard(_ name: String, upTo version: Int) throws(SQLiteError) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let code = sqlite3_create_function_v2(
            connection, name, 1, flags, UnsafeMutableRawPointer(bitPattern: version),
            { context, _, values in
                let known = Int(bitPattern: sqlite3_user_data(context))
                let isKnown = sqlite3_value_int64(values?[0]) <= known
                sqlite3_result_int(context, isKnown ? 1 : 0)
            }, nil, nil, nil)
        guard code == SQLITE_OK else {
            throw SQLiteError(connection, operation: "define \(name)")
        }
    }

    /// Sets whether triggers run; see `SQLITE_DBCONFIG_ENABLE_TRIGGER` in
    /// <https://sqlite.org/c3ref/c_dbconfig_defensive.html>.
    package func setTriggers(areOn: Bool) {
        _ = csqlite_db_config_flag(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, areOn ? 1 : 0)
    }

    /// Turns off SQLite's memory statistics in this process, which take a lock for each allocation;
    /// see `SQLITE_CONFIG_MEMSTATUS` in
    /// <https://sqlite.org/c3ref/c_config_covering_index_scan.html>.
    ///
    /// Must be called before the first database is opened, and only in programs that have SQLite to
    /// themselves.
    package static func disableMemoryStatistics() {
        // Later it would be refused, without any effect.
        _ = csqlite_config_memory_status(0)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(connection)
        onClose()
    }

    /// How many pages the write-ahead log contained after this connection's last commit.
    package var walPages: Int { wal.count }

    /// The rowid of the last insertion; see <https://sqlite.org/c3ref/last_insert_rowid.html>.
    package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(connection) }

    /// How many rows the last statement changed; see <https://sqlite.org/c3ref/changes.html>.
    package var changes: Int { Int(sqlite3_changes(connection)) }

    /// How many rows all statements have changed; see
    /// <https://sqlite.org/c3ref/total_changes.html>.
    package var totalChanges: Int { Int(sqlite3_total_changes(connection)) }

    package var isInTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Runs a script of any number of statements; see <https://sqlite.org/c3ref/exec.html>.
    package func execute(_ script: String) throws(SQLiteError) {
        guard sqlite3_exec(connection, script, nil, nil, nil) == SQLITE_OK else {
            throw SQLiteError(connection, operation: script)
        }
    }

    /// Runs one statement to its end, ignoring its rows.
    package func run(_ sql: String, _ values: Value...) throws(SQLiteError) {
        try run(sql, values)
    }

    /// Runs one statement to its end, ignoring its rows.
    package func run(_ sql: String, _ values: [Value]) throws(SQLiteError) {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() {}
    }

    /// Runs one statement to its end, ignoring its rows.
    package func run(_ statement: Statement) throws(SQLiteError) {
        try run(statement.sql, statement.values)
    }

    /// Reads the first row, or returns `nil` if there is none.
    package func first<Result>(
        _ sql: String, _ values: Value..., read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        try first(sql, values, read: read)
    }

    /// Reads the first row, or returns `nil` if there is none.
    package func first<Result>(
        _ sql: String, _ values: [Value], read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? read(statement.row) : nil
    }

    /// Reads every row, in order.
    package func rows<Result>(
        _ sql: String, _ values: Value..., read: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        try rows(sql, values, read: read)
    }

    /// Reads every row, in order.
    package func rows<Result>(
        _ sql: String, _ values: [Value], read: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        try forEach(sql, values) { row in results.append(try read(row)) }
        return results
    }

    /// Visits every row without keeping any.
    package func forEach(
        _ sql: String, _ values: [Value], _ body: (borrowing Row) throws -> Void
    ) throws {
        try visit(sql, values) { row in
            try body(row)
            return true
        }
    }

    /// Visits rows for as long as the closure returns `true`, without keeping any.
    package func visit(
        _ sql: String, _ values: [Value], _ body: (borrowing Row) throws -> Bool
    ) throws {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step(), try body(statement.row) {}
    }

    /// Runs a closure in a read transaction, so that its statements see one state of the file.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN")
        // A read transaction has nothing to lose: it does not matter how it ends.
        defer { try? execute("ROLLBACK") }
        return try body()
    }

    /// How a checkpoint treats readers; see <https://sqlite.org/c3ref/wal_checkpoint_v2.html>.
    package enum CheckpointMode: Sendable {
        case passive
        case truncate
    }

    /// Copies the write-ahead log into the database file, and returns whether all of it was copied.
    package func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Bool {
        var logged: Int32 = 0
        var copied: Int32 = 0
        let mode = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        let code = sqlite3_wal_checkpoint_v2(connection, nil, mode, &logged, &copied)
        if code & 0xff == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else {
            throw SQLiteError(connection, operation: "checkpoint")
        }
        return logged == copied
    }

    /// Rewrites the database, so that nothing deleted is left in its pages; the new pages are in
    /// the write-ahead log until a checkpoint. See <https://sqlite.org/lang_vacuum.html>.
    ///
    /// - Parameters:
    ///   - directory: Where the temporary copy is made, which has no name there. If this account
    ///     may not write it, SQLite takes another one.
    ///   - isCancelled: Called again and again; `true` ends it with an error, and nothing changed.
    package func vacuum(
        copyingIn directory: String, isCancelled: @escaping () -> Bool
    ) throws(SQLiteError) {
        let check = Unmanaged.passRetained(CancelCheck(isCancelled: isCancelled))
        sqlite3_progress_handler(
            connection, 10_000,
            { context in
                guard let context else { return 0 }
                let check = Unmanaged<CancelCheck>.fromOpaque(context).takeUnretainedValue()
                return check.isCancelled() ? 1 : 0
            }, check.toOpaque())
        defer {
            sqlite3_progress_handler(connection, 0, nil, nil)
            check.release()
        }
        // The setting is the whole process's; see
        // <https://sqlite.org/c3ref/temp_directory.html>.
        let former = (try? first("PRAGMA temp_store_directory") { $0.text() }) ?? ""
        try? execute("PRAGMA temp_store_directory = \(Self.literal(directory))")
        defer { try? execute("PRAGMA temp_store_directory = \(Self.literal(former))") }
        try execute("VACUUM")
    }

    private static func literal(_ text: String) -> String {
        // By scalars: a mark after a quote makes another `Character` of it.
        let parts = text.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.map { String($0) }.joined(separator: "''") + "'"
    }

    /// Makes closing copy and empty the write-ahead log, if no other connection has the file open.
    ///
    /// SQLite ensures that with an exclusive lock. The files themselves stay, for users who may not
    /// create them. This requires a `journal_size_limit`. See `SQLITE_FCNTL_PERSIST_WAL` in
    /// <https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html>.
    package func emptyLogAtClosing() {
        var isKept: Int32 = 1
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
        _ = csqlite_db_config_flag(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    }

    /// A number that grows whenever SQLite has read this file's schema again.
    ///
    /// It is how often a statement that needs the schema had to be compiled again: when the
    /// statement begins to run, SQLite checks whether the schema has changed, and reads it if so.
    package func schemaGeneration() throws(SQLiteError) -> Int {
        let statement = try statement("SELECT 1 FROM sqlite_schema LIMIT 0")
        defer { statement.reset() }
        _ = try statement.step()
        return statement.recompilations
    }

    /// Makes SQLite read the schema again, whether or not it seems to have changed; see
    /// <https://sqlite.org/pragma.html#pragma_writable_schema>.
    package func reloadSchema() throws(SQLiteError) {
        try execute("PRAGMA writable_schema = RESET")
    }

    private func statement(_ sql: String) throws(SQLiteError) -> PreparedStatement {
        let text = StatementText(sql: sql)
        if let statement = statements[text] { return statement }
        let statement = try PreparedStatement(sql, on: connection)
        // Those in use are kept by what uses them.
        if statements.count >= Self.maximumStatements { statements.removeAll() }
        statements[text] = statement
        return statement
    }
}

/// The text of a statement as a key. Its hash is that of its length: to hash all of it takes longer
/// than to compare it with itself.
private struct StatementText: Hashable {
    let sql: String

    func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
}

/// What SQLite's progress handler asks; see <https://sqlite.org/c3ref/progress_handler.html>.
private final class CancelCheck {
    let isCancelled: () -> Bool

    init(isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
}

/// The count that SQLite's write-ahead-log hook writes; see
/// <https://sqlite.org/c3ref/wal_hook.html>.
private final class WALPages {
    var count = 0
}
