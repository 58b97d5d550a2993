import AlertCore
import Migrations
import SQLite

/// A table, an index, a view or a trigger from the file's table `sqlite_schema`.
///
/// See <https://sqlite.org/schematab.html>.
package struct SchemaObject: Equatable, Sendable {
    /// `table`, `index`, `view` or `trigger`.
    package let type: String
    package let name: String
    /// The table or view that it belongs to; for a table or view itself, its own name.
    package let table: String
    /// The statement that creates it; `nil` for what SQLite creates by itself.
    package let sql: String?

    enum Column: Int, ColumnList { case type, name, tblName, sql }

    static let query = "SELECT \(Column.list) FROM sqlite_schema ORDER BY rowid"

    init(type: String, name: String, table: String, sql: String?) {
        self.type = type
        self.name = name
        self.table = table
        // The text of what SQLite creates itself differs between its versions.
        self.sql = Self.isMadeBySQLite(name) ? nil : sql
    }

    init(_ row: borrowing Row) {
        self.init(
            type: row.text(Column.type), name: row.text(Column.name),
            table: row.text(Column.tblName), sql: row.optionalText(Column.sql))
    }

    /// Byte by byte: texts that only look alike are not the same statement.
    package static func == (one: SchemaObject, other: SchemaObject) -> Bool {
        one.type.isIdentical(to: other.type) && one.name.isIdentical(to: other.name)
            && one.table.isIdentical(to: other.table) && one.sql.isIdentical(to: other.sql)
    }

    /// All objects of a database, oldest first.
    static func all(in db: Database) throws -> [SchemaObject] {
        try db.rows(query) { SchemaObject($0) }
    }

    /// Its unique key: triggers have a separate namespace, and case is ignored.
    var key: Key { Key(isTrigger: type == "trigger", name: name.asciiLowercased) }

    struct Key: Hashable {
        let isTrigger: Bool
        let name: String
    }

    var isPartOfTextIndex: Bool { name.hasPrefix("text_index") && type == "table" }

    /// Its name in messages.
    package var subject: String {
        let suffix = type == "index" || type == "trigger" ? " on “\(SafeText.line(table))”" : ""
        return "the \(type) “\(SafeText.line(name))”" + suffix
    }

    private static func isMadeBySQLite(_ name: String) -> Bool {
        name.hasPrefix("sqlite_") || name.hasPrefix("text_index_")
    }
}

extension String {
    /// The name as SQLite compares it: only A to Z are converted to lower case.
    var asciiLowercased: String {
        String(
            decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
