import AlertCore
import SQLite

/// Names the operation that failed: only here an SQLite error becomes an ``AlertError``.
func storing<Result>(
    _ operation: String, _ body: () throws -> Result
) throws(AlertError) -> Result {
    do {
        return try body()
    } catch {
        throw translated(error, operation)
    }
}

extension AlertError {
    /// The greatest number that a row can have is taken, which only somebody who changed the file
    /// can have brought about.
    static func usedUp(_ rows: String) -> AlertError {
        .storage(
            operation: "number the \(rows)",
            "the last of them has the greatest number that there is, so that somebody must have "
                + "changed the file; put a copy of it back")
    }
}

/// The ``AlertError`` that tells a caller about a failure underneath.
func translated(_ error: any Error, _ operation: String) -> AlertError {
    switch error {
    case let error as AlertError:
        error
    case let error as SQLiteError where error.isBusy:
        .busy("the database is locked by another program; try again")
    case let error as SQLiteError where error.isFull:
        .storage(operation: operation, diskFullReason)
    case let error as SQLiteError where error.isDamage:
        .storage(operation: operation, "the database is damaged: \(error)")
    default:
        .storage(operation: operation, "\(error)")
    }
}
