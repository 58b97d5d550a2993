/// A database, for what two of them say in different words.
package enum SQLDialect: Sendable {
    case sqlite, postgreSQL

    /// After a table: its rows are found through this index, and no other one that somebody has
    /// added. Only SQLite has words for that; see <https://sqlite.org/lang_indexedby.html>.
    package func indexed(by index: String) -> String {
        self == .sqlite ? " INDEXED BY \(index)" : ""
    }

    /// After a table: its rows are found through its key.
    package var notIndexed: String { self == .sqlite ? " NOT INDEXED" : "" }

    /// The condition that an expression is one of the integers of a parameter's value
    /// ``value(of:)``.
    package func isOne(_ expression: String, of parameter: String) -> String {
        switch self {
        case .sqlite: "\(expression) IN (SELECT value FROM json_each(\(parameter)))"
        // With a table, it could be planned to read all rows.
        case .postgreSQL: "\(expression) = ANY (\(parameter)::bigint[])"
        }
    }

    /// The greater of two expressions.
    package func greater(_ left: String, _ right: String) -> String {
        "\(self == .sqlite ? "max" : "greatest")(\(left), \(right))"
    }

    /// Any number of integers as the value of one parameter.
    package func value(of integers: some Sequence<Int64>) -> Value {
        let list = integers.map(String.init).joined(separator: ",")
        return .text(self == .sqlite ? "[\(list)]" : "{\(list)}")
    }
}

/// The text of a statement in the words of each database. It is made when it is first needed, and
/// once, because databases keep prepared statements by their texts.
package struct SQLText: Sendable {
    private let sqlite: String
    private let postgreSQL: String

    package init(_ make: (SQLDialect) -> String) {
        (sqlite, postgreSQL) = (make(.sqlite), make(.postgreSQL))
    }

    package subscript(dialect: SQLDialect) -> String {
        dialect == .sqlite ? sqlite : postgreSQL
    }
}
