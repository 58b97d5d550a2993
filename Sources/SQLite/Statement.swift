import CSQLite

/// A prepared statement, kept and reused by the database that compiled it.
///
/// Wraps `sqlite3_stmt`; see <https://sqlite.org/c3ref/stmt.html>.
final class Statement {
    private let handle: OpaquePointer
    private let sql: String
    private var parameters: Parameters

    /// Compiles one statement. `connection` outlives it, because `Database` owns both.
    init(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else {
            throw SQLiteError(connection, operation: sql)
        }
        self.handle = handle
        self.sql = sql
        parameters = Parameters(handle)
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds the values that a closure passes to the parameters, the first to `?1`.
    func bind(_ body: (inout Parameters) -> Void) throws(SQLiteError) {
        // A closure that ran this statement would end here: its values would be lost.
        body(&parameters)
        precondition(parameters.count == sqlite3_bind_parameter_count(handle), sql)
        guard parameters.code == SQLITE_OK else {
            // Others have been bound since, so the connection no longer has the error.
            throw SQLiteError(
                code: parameters.code, message: String(cString: sqlite3_errstr(parameters.code)),
                operation: sql)
        }
    }

    /// Moves to the next row, and returns `false` after the last one.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw error()
        }
    }

    /// Resets the statement for its next use, and releases the bound texts.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        parameters.removeAll()
    }

    var row: Row { Row(handle) }

    /// How often it was compiled again because the schema had been read again; see
    /// `SQLITE_STMTSTATUS_REPREPARE` in
    /// <https://sqlite.org/c3ref/c_stmtstatus_counter.html>.
    var recompilations: Int {
        Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0))
    }

    private func error() -> SQLiteError {
        SQLiteError(sqlite3_db_handle(handle), operation: sql)
    }
}
