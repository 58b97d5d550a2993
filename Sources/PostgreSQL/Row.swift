import CPostgreSQL
import Glibc
@_exported import SQL

/// One row of a result, valid only inside the closure that receives it.
///
/// Columns count from 0. A query's only column is read without a number. Wraps
/// <https://www.postgresql.org/docs/current/libpq-exec.html#LIBPQ-PQGETVALUE>.
package struct Row: SQLRow, ~Copyable {
    private let result: QueryResult
    private let number: Int32

    init(_ number: Int32, of result: QueryResult) {
        (self.number, self.result) = (number, result)
    }

    package func isNull(at column: Int32) -> Bool {
        result.lib.pq.PQgetisnull(result.handle, number, column) != 0
    }

    /// The bytes of a column as text, in libpq's memory.
    private func bytes(at column: Int32) -> UnsafeRawBufferPointer {
        let count = Int(result.lib.pq.PQgetlength(result.handle, number, column))
        let start = result.lib.pq.PQgetvalue(result.handle, number, column)
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    }

    /// An integer of any width; 0 for SQL `NULL` and for a text that is no integer.
    package func integer(at column: Int32) -> Int64 {
        // It always ends in a NUL.
        result.lib.pq.PQgetvalue(result.handle, number, column).map { strtoll($0, nil, 10) }
            ?? 0
    }

    package func optionalText(at column: Int32) -> String? {
        isNull(at: column) ? nil : String(decoding: bytes(at: column), as: UTF8.self)
    }

    /// Types are those of the tables.
    package func isInteger(at column: Int32) -> Bool { !isNull(at: column) }

    package func holds(_ text: String, at column: Int32) -> Bool {
        !isNull(at: column) && bytes(at: column).elementsEqual(text.utf8)
    }

    /// A value of another type than an integer or a `bytea` is a text; the numbers of types are
    /// in <https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat>.
    package func value(at column: Int32) -> Value {
        guard !isNull(at: column) else { return .null }
        switch result.lib.pq.PQftype(result.handle, column) {
        case 20, 21, 23: return .integer(integer(at: column))
        case 17: return .optional(blob(at: column))
        default: return .optional(optionalText(at: column))
        }
    }

    /// The bytes of a `bytea`, whatever its output format is.
    package func blob(at column: Int32) -> [UInt8]? {
        guard !isNull(at: column) else { return nil }
        var count = 0
        let escaped = UnsafeRawPointer(bytes(at: column).baseAddress)?
            .assumingMemoryBound(to: UInt8.self)
        guard let bytes = result.lib.pq.PQunescapeBytea(escaped, &count) else { return [] }
        defer { result.lib.pq.PQfreemem(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
}

// MARK: - Result

/// The rows that a statement has returned, in memory.
package final class QueryResult {
    let lib: LibPQ
    let handle: OpaquePointer

    /// Takes over a `PGresult`.
    init(owning handle: OpaquePointer, of lib: LibPQ) {
        (self.handle, self.lib) = (handle, lib)
    }

    deinit { lib.pq.PQclear(handle) }

    /// How many rows there are.
    package var count: Int { Int(lib.pq.PQntuples(handle)) }

    /// How many rows the statement has inserted, updated, deleted or returned; see
    /// <https://www.postgresql.org/docs/current/libpq-exec.html#LIBPQ-PQCMDTUPLES>.
    package var changes: Int {
        lib.pq.PQcmdTuples(handle).map { Int(strtoll($0, nil, 10)) } ?? 0
    }

    /// What was done, such as `COMMIT` or `INSERT 0 1`.
    package var command: String {
        lib.pq.PQcmdStatus(handle).map { String(cString: $0) } ?? ""
    }

    /// Reads the first row, or returns `nil` if there is none.
    package func first<Value, Failure>(
        _ read: (borrowing Row) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        count > 0 ? try read(Row(0, of: self)) : nil
    }

    /// Reads every row, in order.
    package func rows<Value, Failure>(
        _ read: (borrowing Row) throws(Failure) -> Value
    ) throws(Failure) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        for number in 0..<Int32(count) { values.append(try read(Row(number, of: self))) }
        return values
    }
}
