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
