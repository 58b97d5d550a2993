/// The columns of a query, each read by its name; raw values count from 0, in the query's order.
package protocol ColumnList: RawRepresentable<Int32>, CaseIterable {
    /// The column as the query names it.
    var sql: String { get }
}

extension ColumnList {
    /// All columns, as they stand after `SELECT`.
    package static var list: String { allCases.map(\.sql).joined(separator: ", ") }

    /// The name of the case as SQL writes names: `askedMs` is `asked_ms`.
    package var snakeCased: String {
        "\(self)".reduce(into: "") { name, letter in
            if letter.isUppercase { name += "_" }
            name += letter.lowercased()
        }
    }
}

extension Row {
    @inlinable
    package func isNull(_ column: some ColumnList) -> Bool { isNull(column.rawValue) }

    /// The integer of a column; SQL `NULL` is 0.
    @inlinable
    package func integer(_ column: some ColumnList) -> Int64 { integer(column.rawValue) }

    @inlinable
    package func optionalInteger(_ column: some ColumnList) -> Int64? {
        optionalInteger(column.rawValue)
    }

    /// The text of a column; SQL `NULL` is the empty string.
    @inlinable
    package func text(_ column: some ColumnList) -> String { text(column.rawValue) }

    @inlinable
    package func optionalText(_ column: some ColumnList) -> String? {
        optionalText(column.rawValue)
    }

    /// The bytes of a column; SQL `NULL` is `nil`.
    @inlinable
    package func blob(_ column: some ColumnList) -> [UInt8]? { blob(column.rawValue) }

    /// The value of a column as it lies in SQLite's memory, without a copy or a conversion.
    @inlinable
    package func raw(_ column: some ColumnList) -> RawColumn { raw(column.rawValue) }
}
