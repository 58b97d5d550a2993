import CSQLite
@_exported import SQL

/// The current row of a running statement, valid only inside the closure that receives it.
///
/// Columns count from 0; a list of their names maps names to numbers. A query's only column is read
/// without a number. Wraps <https://sqlite.org/c3ref/column_blob.html>.
package struct Row: SQLRow, ~Copyable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) {
        self.handle = handle
    }

    package func isNull(at column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    package func integer(at column: Int32) -> Int64 {
        sqlite3_column_int64(handle, column)
    }

    package func optionalText(at column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    package func blob(at column: Int32) -> [UInt8]? {
        guard !isNull(at: column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        guard count > 0, let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    package func isInteger(at column: Int32) -> Bool { raw(at: column).kind == .integer }

    package func holds(_ text: String, at column: Int32) -> Bool { raw(at: column).holds(text) }

    /// A real number, which no table of ours has, is a text.
    package func value(at column: Int32) -> Value {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(integer(at: column))
        case SQLITE_BLOB: .optional(blob(at: column))
        default: .optional(optionalText(at: column))
        }
    }

    package func raw(at column: Int32) -> RawColumn {
        // Looked up once. The value is “unprotected” in SQLite's words: it is for one thread only,
        // like the connection here.
        let value = sqlite3_column_value(handle, column)
        switch sqlite3_value_type(value) {
        case SQLITE_NULL: return RawColumn(kind: .null)
        case SQLITE_INTEGER:
            return RawColumn(kind: .integer, integer: sqlite3_value_int64(value))
        case let type:
            // For a text, too: its bytes, without the terminator that column_text would append.
            let start = sqlite3_value_blob(value)
            let count = Int(sqlite3_value_bytes(value))
            let bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
            let kind =
                type == SQLITE_TEXT ? RawColumn.Kind.text : type == SQLITE_BLOB ? .blob : .real
            return RawColumn(kind: kind, bytes: bytes)
        }
    }
}

extension Row {
    /// The value of the only column in SQLite's memory.
    package func raw() -> RawColumn { raw(at: 0) }

    /// The value of a column in SQLite's memory, without a copy or a conversion.
    package func raw(_ column: some ColumnList) -> RawColumn { raw(at: column.index) }
}
