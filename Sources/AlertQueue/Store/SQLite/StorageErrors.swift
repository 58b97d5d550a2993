import SQLite

/// Names the operation that failed: the one place where an SQLite error becomes an ``AlertError``.
func storing<Result>(
    _ operation: String, _ body: () throws -> Result
) throws(AlertError) -> Result {
    do {
        return try body()
    } catch {
        throw translated(error, operation)
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
