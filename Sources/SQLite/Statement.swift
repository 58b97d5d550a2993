import CSQLite

/// A prepared statement, kept and reused by the database that compiled it.
///
/// Wraps `sqlite3_stmt`; see <https://sqlite.org/c3ref/stmt.html>.
final class Statement {
    private let handle: OpaquePointer
    private let sql: String

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
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds values to the parameters, the first to `?1`; see
    /// <https://sqlite.org/c3ref/bind_blob.html>.
    func bind(_ values: [Value]) throws(SQLiteError) {
        precondition(values.count == sqlite3_bind_parameter_count(handle), sql)
        for (number, value) in zip(Int32(1)..., values) {
            let code =
                switch value {
                // A parameter is NULL until something is bound to it.
                case .null: SQLITE_OK
                case .integer(let integer): sqlite3_bind_int64(handle, number, integer)
                case .text(var text):
                    text.withUTF8 { text in
                        // The length is passed so that a NUL in the text does not truncate it.
                        sqlite3_bind_text64(
                            handle, number, text.baseAddress, UInt64(text.count),
                            csqlite_transient(), UInt8(SQLITE_UTF8))
                    }
                case .blob(let blob):
                    blob.withUnsafeBytes { blob in
                        sqlite3_bind_blob64(
                            handle, number, blob.baseAddress, UInt64(blob.count),
                            csqlite_transient())
                    }
                }
            guard code == SQLITE_OK else { throw error() }
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
