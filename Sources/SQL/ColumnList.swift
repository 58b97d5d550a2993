/// The columns of a query, read by name; raw values count from 0, in the query's order.
///
/// For example: for `enum Column: Int, ColumnList { case name, askedMs }` the ``list`` is `name,
/// asked_ms`, and `row.integer(Column.askedMs)` reads the second column.
///
/// It is a `CodingKey`, because the compiler writes the names of its cases down then: looking one up
/// at run time, as `"\(self)"` does, takes a process 20 µs for each list.
package protocol ColumnList: RawRepresentable<Int>, CaseIterable, CodingKey {
    /// The number of columns of another list that precede these in the query; defaults to 0.
    static var offset: Int32 { get }
    /// The column's expression in the query; defaults to ``snakeCased``.
    var sql: String { get }
}

extension ColumnList {
    @inlinable package static var offset: Int32 { 0 }

    package var sql: String { snakeCased }

    /// All columns, as written after `SELECT`.
    package static var list: String { allCases.map(\.sql).joined(separator: ", ") }

    /// The number of these columns and those before them.
    package static var end: Int32 { offset + Int32(allCases.count) }

    /// The name of the case in SQL's style: `askedMs` is `asked_ms`.
    package var snakeCased: String {
        let letters = stringValue.utf8.flatMap { letter in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
                ? [UInt8(ascii: "_"), letter | 0x20] : [letter]
        }
        return String(decoding: letters, as: UTF8.self)
    }

    @inlinable package var index: Int32 { Self.offset + Int32(truncatingIfNeeded: rawValue) }
}

/// The current row of a query, valid only inside the closure that receives it. Columns count from 0.
package protocol SQLRow: ~Copyable {
    func isNull(at column: Int32) -> Bool
    /// The integer of a column; SQL `NULL` is 0.
    func integer(at column: Int32) -> Int64
    func optionalText(at column: Int32) -> String?
    /// The bytes of a column; SQL `NULL` is `nil`.
    func blob(at column: Int32) -> [UInt8]?
    /// Whether a column holds an integer, and neither SQL `NULL` nor what would be converted to one.
    func isInteger(at column: Int32) -> Bool
    /// Whether a column holds the bytes of a text.
    func holds(_ text: String, at column: Int32) -> Bool
    /// The value of a column as a statement would bind it.
    func value(at column: Int32) -> Value
}

extension SQLRow where Self: ~Copyable {
    @inlinable package func isNull(_ column: some ColumnList) -> Bool { isNull(at: column.index) }

    @inlinable package func holds(_ text: String, _ column: some ColumnList) -> Bool {
        holds(text, at: column.index)
    }

    /// The integer of a column; SQL `NULL` is 0.
    @inlinable package func integer(_ column: some ColumnList) -> Int64 {
        integer(at: column.index)
    }

    @inlinable package func optionalInteger(_ column: some ColumnList) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    /// The text of a column; SQL `NULL` is the empty string.
    @inlinable package func text(_ column: some ColumnList) -> String { optionalText(column) ?? "" }

    @inlinable package func optionalText(_ column: some ColumnList) -> String? {
        optionalText(at: column.index)
    }

    /// The bytes of a column; SQL `NULL` is `nil`.
    @inlinable package func blob(_ column: some ColumnList) -> [UInt8]? { blob(at: column.index) }

    // A query for one value has one column.

    /// Whether the only column is SQL `NULL`.
    @inlinable package func isNull() -> Bool { isNull(at: 0) }

    /// The integer of the only column; SQL `NULL` is 0.
    @inlinable package func integer() -> Int64 { integer(at: 0) }

    @inlinable package func optionalInteger() -> Int64? { isNull() ? nil : integer() }

    /// The text of the only column; SQL `NULL` is the empty string.
    @inlinable package func text() -> String { optionalText() ?? "" }

    @inlinable package func optionalText() -> String? { optionalText(at: 0) }

    /// The bytes of the only column; SQL `NULL` is `nil`.
    @inlinable package func blob() -> [UInt8]? { blob(at: 0) }
}
