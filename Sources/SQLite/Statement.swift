import CSQLite

/// A prepared statement, kept and reused by the database that compiled it.
///
/// Gain: a story takes 0.55 times as long (`alertq-bench story`, files in memory; against compiling
/// the statement for each use).
///
/// Wraps `sqlite3_stmt`; see <https://sqlite.org/c3ref/stmt.html>.
final class Statement {
    private let handle: OpaquePointer
    private let sql: String
    /// The bytes of the bound texts and blobs, from which SQLite reads them.
    ///
    /// Gain: copies that SQLite makes take 6 % of the writer's time with 512 waiting tasks (`perf
    /// record alertq-bench ask`, files in memory).
    private var bytes: UnsafeMutableRawBufferPointer

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
        bytes = .allocate(byteCount: 256, alignment: 1)
    }

    deinit {
        sqlite3_finalize(handle)
        bytes.deallocate()
    }

    /// Binds values to the parameters, the first to `?1`.
    func bind(_ values: [Value]) throws(SQLiteError) {
        precondition(values.count == sqlite3_bind_parameter_count(handle), sql)
        reserve(values.reduce(0) { $0 + $1.byteCount })
        var used = 0
        for (offset, value) in values.enumerated() {
            let index = Int32(offset + 1)
            let code: Int32
            switch value {
            case .null:
                // It has been NULL since the last reset.
                code = SQLITE_OK
            case .integer(let integer):
                code = sqlite3_bind_int64(handle, index, integer)
            case .text(var text):
                // The length is passed so that a NUL in the text does not truncate it.
                let count = text.utf8.count
                let place = text.withUTF8 { put(UnsafeRawBufferPointer($0), at: used) }
                code = sqlite3_bind_text64(
                    handle, index, place, UInt64(count), nil, UInt8(SQLITE_UTF8))
                used += count
            case .blob(let blob):
                let place = blob.withUnsafeBytes { put($0, at: used) }
                code = sqlite3_bind_blob64(handle, index, place, UInt64(blob.count), nil)
                used += blob.count
            }
            guard code == SQLITE_OK else { throw error() }
        }
    }

    /// Makes room for the bytes of all values.
    private func reserve(_ count: Int) {
        guard count > bytes.count else { return }
        bytes.deallocate()
        bytes = .allocate(byteCount: count, alignment: 1)
    }

    private func put(_ source: UnsafeRawBufferPointer, at offset: Int) -> UnsafeRawPointer? {
        let place = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
        place.copyMemory(from: source)
        return place.baseAddress.map { UnsafeRawPointer($0) }
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
        // Memory for a long text is not kept as long as the statement.
        if bytes.count > 65_536 {
            bytes.deallocate()
            bytes = .allocate(byteCount: 256, alignment: 1)
        }
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
