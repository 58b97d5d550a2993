import AlertCore
import SQLite

extension Database {
    /// Runs a statement that must change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it did not: a trigger can make a statement
    ///   succeed without any effect; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws {
        try run(sql, values)
        guard changes == 1 else {
            throw AlertError.inconsistent(
                nil, "a statement that changes one row has changed \(changes)")
        }
    }
}
