import CSQLite
import Glibc
import SQL

/// A prepared statement, kept and reused by the database that compiled it.
///
/// Wraps `sqlite3_stmt`; see <https://sqlite.org/c3ref/stmt.html>.
final class PreparedStatement {
    private let handle: OpaquePointer
    private let sql: String
    /// The number of each parameter's value, where that is not the parameter's own: SQLite numbers
    /// those called `$1`, `$2` and so on as they appear. A value need not have a parameter.
    private let named: [Int]?

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
        named = Self.named(handle)
    }

    /// See <https://sqlite.org/c3ref/bind_parameter_name.html>.
    private static func named(_ handle: OpaquePointer) -> [Int]? {
        let dollar = CChar(UInt8(ascii: "$"))
        let count = sqlite3_bind_parameter_count(handle)
        var numbers: [Int] = []
        for parameter in 0..<count {
            guard let name = sqlite3_bind_parameter_name(handle, parameter + 1),
                name.pointee == dollar
            else { return nil }
            numbers.append(strtol(name + 1, nil, 10))
        }
        return numbers
    }

    deinit { sqlite3_finalize(handle) }

    /// Binds values to the parameters, the first to `?1` or `$1`; see
    /// <https://sqlite.org/c3ref/bind_blob.html>.
    func bind(_ values: [Value]) throws(SQLiteError) {
        if let named {
            for (parameter, number) in zip(Int32(1)..., named) {
                try bind(values[number - 1], to: parameter)
            }
            return
        }
        precondition(values.count == sqlite3_bind_parameter_count(handle), sql)
        for (parameter, value) in zip(Int32(1)..., values) { try bind(value, to: parameter) }
    }

    private func bind(_ value: Value, to parameter: Int32) throws(SQLiteError) {
        let code =
            switch value {
            // A parameter is NULL until something is bound to it.
            case .null: SQLITE_OK
            case .integer(let integer): sqlite3_bind_int64(handle, parameter, integer)
            case .text(var text):
                text.withUTF8 { text in
                    // The length is passed so that a NUL in the text does not truncate it.
                    sqlite3_bind_text64(
                        handle, parameter, text.baseAddress, UInt64(text.count),
                        csqlite_transient(), UInt8(SQLITE_UTF8))
                }
            case .blob(let blob):
                blob.withUnsafeBytes { blob in
                    sqlite3_bind_blob64(
                        handle, parameter, blob.baseAddress, UInt64(blob.count),
                        csqlite_transient())
                }
            }
        guard code == SQLITE_OK else { throw error() }
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
