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
    /// With `FULL` nothing of it would be left in a page, but all queues would wait meanwhile.
    package nonisolated(nonsending) func rewrite(
        completing erasures: Int64, _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) {
        progress(PurgeProgress(phase: .file, done: 0, total: 1))
        do throws(AlertError) {
            try await readAside("vacuum the table “alerts”") { tables in
                try tables.db.execute("VACUUM (ANALYZE) alertq.alerts")
            }
        } catch .cancelled {
            return
        }
        try await writes.perform(.upkeep, "note that the texts are gone") { transaction in
            try transaction.write(transaction.query.complete(erasures))
        }
        progress(PurgeProgress(phase: .file, done: 1, total: 1))
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
