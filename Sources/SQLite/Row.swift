import CSQLite
import Glibc
@_exported import SQL

/// The current row of a running statement, valid only inside the closure that receives it.
///
/// Columns count from 0; a list of their names maps names to numbers. A query's only column is read
/// without a number. Text that is not valid UTF-8 ends in a NUL character, which none of ours has.
/// Wraps <https://sqlite.org/c3ref/column_blob.html>.
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
        let stored = UnsafeBufferPointer(
            start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
        var text = String(decoding: stored, as: UTF8.self)
        // Repaired, it would be the same as another text, which has a U+FFFD there.
        let isWhole = text.withUTF8 { read in
            guard read.count == stored.count, let start = read.baseAddress else {
                return read.count == stored.count
            }
            return memcmp(start, bytes, stored.count) == 0
        }
        return isWhole ? text : text + "\0"
    }

    package func blob(at column: Int32) -> [UInt8]? {
        guard !isNull(at: column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        guard count > 0, let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    package func isInteger(at column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_INTEGER
    }

    package func holds(_ text: String, at column: Int32) -> Bool {
        var text = text
        return text.withUTF8 { holds(UnsafeRawBufferPointer($0), at: column) }
    }

    /// Whether a text or a blob has these bytes, which nothing copies or converts.
    package func holds(_ bytes: UnsafeRawBufferPointer, at column: Int32) -> Bool {
        // Also of a text: column_text would append a terminator.
        let own = sqlite3_column_blob(handle, column)
        guard Int(sqlite3_column_bytes(handle, column)) == bytes.count else { return false }
        guard let own, let other = bytes.baseAddress else { return bytes.isEmpty }
        return memcmp(own, other, bytes.count) == 0
    }

    /// A real number, which no table of ours has, is a text.
    package func value(at column: Int32) -> Value {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(integer(at: column))
        case SQLITE_BLOB: .optional(blob(at: column))
        default: .optional(optionalText(at: column))
        }
    }
}
