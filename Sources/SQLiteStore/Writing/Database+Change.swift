import AlertCore
import SQLite

extension Database {
    /// Runs a statement that must change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it did not: a trigger can make a statement
    ///   succeed without any effect; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws {
        try run(sql, values)
        try checkChanges(1)
    }

    /// Runs a statement that must change one row, or as many as given; the closure binds its
    /// parameters in order.
    ///
    /// - Throws: The errors of ``change(_:_:)``.
    func change(_ sql: String, rows: Int = 1, binding bind: (inout Parameters) -> Void) throws {
        try run(sql, binding: bind)
        try checkChanges(rows)
    }

    private func checkChanges(_ rows: Int) throws {
        guard changes == rows else {
            throw AlertError.inconsistent(
                nil,
                "a statement that changes \(rows == 1 ? "one row" : "\(rows) rows") has changed "
                    + "\(changes)")
        }
    }
}
