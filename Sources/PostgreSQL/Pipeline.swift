import SQL

/// Statements that are sent together, so that all of them take one round trip.
///
/// If one of them fails, those after it are not run. Outside of a transaction they are one
/// transaction. See <https://www.postgresql.org/docs/current/libpq-pipeline-mode.html>.
package struct Pipeline: Sendable {
    package private(set) var statements: [Statement] = []

    package init() {}

    package init(_ statements: [Statement]) { self.statements = statements }

    /// Adds a statement, and returns the index of its result.
    @discardableResult
    package mutating func add(_ sql: String, _ values: Value...) -> Int {
        add(Statement(sql, values))
    }

    /// Adds a statement, and returns the index of its result.
    @discardableResult
    package mutating func add(_ statement: Statement) -> Int {
        statements.append(statement)
        return statements.count - 1
    }
}

/// How a transaction has ended, as far as this side can know.
package enum CommitOutcome {
    /// The server acknowledged `COMMIT`: what the transaction changed is stored, and these are
    /// the results of its last statements. If the server was made to stop waiting for its
    /// standbys, a warning among ``Connection/notices`` says so: it is stored on the primary.
    case committed([QueryResult])
    /// A statement or `COMMIT` itself failed: nothing is stored.
    case refused(PostgreSQLError)
    /// The connection was lost when `COMMIT` may have been sent already: what was changed may be
    /// stored, or not, or be stored in a moment.
    case unknown(PostgreSQLError)
}
