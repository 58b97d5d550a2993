#if PostgreSQL
    import PostgreSQL

    /// A connection on its way to the one task that uses it from then on.
    struct Sent: @unchecked Sendable {
        let db: Connection

        /// Stores a row that a test looks for.
        func insert() -> CommitOutcome {
            db.commit(Pipeline([Statement("INSERT INTO things VALUES (1)")]))
        }
    }
#endif
