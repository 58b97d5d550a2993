/// A statement and the values of its parameters `$1`, `$2`, …
///
/// A cast of a parameter, such as `$2::bigint`, is PostgreSQL's; SQLite takes it for a part of the
/// parameter's name (<https://sqlite.org/lang_expr.html#varparam>).
package struct Statement: Sendable, Hashable {
    package let sql: String
    package let values: [Value]
    /// Whether it is planned for its values each time it runs, and not prepared. A server may plan
    /// a prepared one for any values, once it has run it five times; see
    /// <https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES>.
    package let isPlannedForValues: Bool

    package init(_ sql: String, _ values: Value...) { self.init(sql, values) }

    package init(_ sql: String, _ values: [Value], isPlannedForValues: Bool = false) {
        (self.sql, self.values) = (sql, values)
        self.isPlannedForValues = isPlannedForValues
    }
}
