import SQL

/// The entries of the log that other rows than those of alerts name, as a verification compares
/// them: each row of `turns` names one of an appearance, and each of `requests` one about its alert.
package enum NamedEntries {
    private enum Column: Int, ColumnList { case table, seq }

    /// The query for the rows that name other entries, a hundred at most. A missing entry is one of
    /// the log's own faults.
    ///
    /// - Parameter queue: The parameter that stands for the queue, where a table has several.
    package static func query(in queue: String? = nil) -> String {
        let joined = queue.map { "AND audit.queue = \($0)" } ?? ""
        let last = "SELECT max(seq) FROM audit" + (queue.map { " WHERE queue = \($0)" } ?? "")
        let rows = { (table: String, isWrong: String) in
            """
            SELECT '\(table)', \(table).seq FROM \(table)
            LEFT JOIN audit ON audit.seq = \(table).seq \(joined)
            WHERE \(queue.map { "\(table).queue = \($0) AND " } ?? "")(\(isWrong)
                OR \(table).seq NOT BETWEEN 1 AND coalesce((\(last)), 0))
            """
        }
        let other = "audit.seq > 0 AND coalesce(audit.alert_id, 0) <> requests.alert_id"
        return """
            \(rows("turns", "audit.event <> 'presented'"))
            UNION ALL
            \(rows("requests", other))
            LIMIT 100
            """
    }

    /// What is wrong with a row of the query.
    package static func fault(_ row: borrowing some SQLRow & ~Copyable) -> String {
        let (table, sequence) = (row.text(Column.table), row.integer(Column.seq))
        return "a row of “\(table)” names entry \(sequence), which is not "
            + (table == "turns" ? "that of an appearance" : "about its alert")
    }
}
