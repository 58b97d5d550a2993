import AlertCore
import AlertTables
import PostgreSQL

extension PostgreSQLAlertStore: ErasingTableStore {
    package nonisolated(nonsending) func checkMayRewrite() async throws(AlertError) {
        let place = location.description
        try await read("look for the owner of the table “alerts”") { tables in
            let owns = try tables.db.first(
                """
                SELECT pg_has_role(current_user, relowner, 'USAGE')::int FROM pg_class
                WHERE oid = 'alerts'::regclass
                """
            ) { $0.integer() == 1 }
            guard owns != true else { return }
            throw AlertError.notPermitted(
                path: place,
                "only the owner of the table “alerts” can purge it; nothing was erased")
        }
    }

    package nonisolated(nonsending) func eraseSlice(
        of ids: ArraySlice<Alert.ID>, by caller: Caller
    ) async throws(AlertError) -> ErasedSlice {
        try await writes.perform(.upkeep, "erase texts") { query in
            ids.prefix(Transaction.sliceLength).flatMap { query.reading($0) }
        } _: { transaction in
            try transaction.eraseSlice(of: ids, by: caller)
        }
    }

    /// Frees the space of what was removed from the table and its indexes, beside other work; see
    /// <https://www.postgresql.org/docs/current/sql-vacuum.html>.
    ///
    /// With `FULL` nothing of it would be left in a page, but all queues would wait meanwhile. What
    /// a transaction or a replication slot may still read is not freed. Transactions that have
    /// just begun are waited for.
    package nonisolated(nonsending) func rewrite(
        completing erasures: Int64, _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) {
        progress(PurgeProgress(phase: .file, done: 0, total: 1))
        let end = ContinuousClock.now + busyTime
        do throws(AlertError) {
            let next = try await read("look for the next transaction") { tables in
                let sql = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
                return try tables.db.first(sql) { $0.text() } ?? ""
            }
            while try await !vacuum(until: next) {
                guard ContinuousClock.now < end else {
                    throw .busy(
                        "a transaction or a replication slot is older than the erasure, so the "
                            + "server still keeps erased texts; end it (see backend_xmin in "
                            + "pg_stat_activity, xmin in pg_replication_slots, and "
                            + "pg_prepared_xacts), then purge again")
                }
                try? await Task.sleep(for: .milliseconds(200))
            }
        } catch .cancelled {
            return
        }
        try await writes.perform(.upkeep, "note that the texts are gone") { transaction in
            try transaction.write(transaction.query.complete(erasures))
        }
        progress(PurgeProgress(phase: .file, done: 1, total: 1))
    }

    /// Vacuums the table “alerts”, and returns whether nothing is left in it that transactions
    /// before another one have removed.
    ///
    /// Every number of a transaction in a table that was frozen is `relfrozenxid` or later, those of
    /// removed rows included: see
    /// <https://www.postgresql.org/docs/current/catalog-pg-class.html>.
    private nonisolated(nonsending) func vacuum(
        until next: String
    ) async throws(AlertError) -> Bool {
        try await readAside("vacuum the table “alerts”") { tables in
            try tables.db.execute("VACUUM (FREEZE, INDEX_CLEANUP ON, ANALYZE) alertq.alerts")
            let isFree = try tables.db.first(
                """
                SELECT bool_and(age(part.relfrozenxid) <= age($1::text::xid8::xid))::int
                FROM pg_class AS whole
                JOIN pg_class AS part ON part.oid IN (whole.oid, whole.reltoastrelid)
                WHERE whole.oid = 'alertq.alerts'::regclass
                """, .text(next)
            ) { $0.integer() }
            return isFree == 1
        }
    }
}

extension Transaction: ErasingTransaction {
    func erase(_ alert: StoredAlert, leaving left: ErasedButtons) throws {
        // The entry that names all of them is the next one.
        try write(
            query.erased(
                alert.record.id, leaving: left, entry: head.sequence.addingBounded(1)))
        forgetAll()
    }
}
