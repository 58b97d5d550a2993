import AlertCore
import SQLite

extension Database {
    /// Runs a statement that has to change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` where it did not: a trigger can have a statement
    ///   succeed without doing anything; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws {
        try run(sql, values)
        guard changes == 1 else {
            throw AlertError.inconsistent(
                nil, "a statement that changes one row has changed \(changes)")
        }
    }
}
