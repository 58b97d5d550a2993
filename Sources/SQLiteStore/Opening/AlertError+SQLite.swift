import AlertCore
import SQLite

/// Performs an operation, which its error names: SQLite errors become ``AlertError``s only here.
func performing<Result>(
    _ operation: String, _ body: () throws -> Result
) throws(AlertError) -> Result {
    do {
        return try body()
    } catch {
        throw translated(error, operation)
    }
}

/// The ``AlertError`` for a failure in the layers below.
func translated(_ error: any Error, _ operation: String) -> AlertError {
    switch error {
    case let error as AlertError:
        error
    case let error as SQLiteError where error.isBusy:
        .busy("the database is locked by another program; try again")
    case let error as SQLiteError where error.isFull:
        .storage(operation: operation, diskFullReason)
    case let error as SQLiteError where error.isDamage:
        .damaged(operation: operation, "\(error)")
    default:
        .storage(operation: operation, "\(error)")
    }
}

extension AlertError {
    /// Whether what is in the database can't be right, in contrast to a disk that fails.
    var isDamage: Bool {
        switch self {
        case .inconsistent, .incompatible, .damaged: true
        default: false
        }
    }

    static func deleted(_ path: String) -> AlertError {
        .storage(operation: "open \(path)", "the database has been deleted or replaced")
    }
}
