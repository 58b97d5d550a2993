import AlertCore
import SQLite

extension Database {
    /// Runs a statement that must change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it did not: a trigger can make a statement
    ///   succeed without any effect; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws {
        try run(sql, values)
        try checkChange()
    }

    /// Runs a statement that must change one row; the closure binds its parameters in order.
    ///
    /// - Throws: The errors of ``change(_:_:)``.
    func change(_ sql: String, binding bind: (inout Parameters) -> Void) throws {
        try run(sql, binding: bind)
        try checkChange()
    }

    private func checkChange() throws {
        guard changes == 1 else {
            throw AlertError.inconsistent(
                nil, "a statement that changes one row has changed \(changes)")
        }
    }
}
