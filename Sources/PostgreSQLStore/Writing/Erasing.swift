import AlertCore
import AlertTables
import FoundationEssentials
import PostgreSQL
import TextFormats

extension PostgreSQLAlertStore: Erasing {
    package var time: ClockReading { clock.now() }

    package nonisolated(nonsending) func erasable(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> PurgeReport {
        let found = try await survey(before: date, by: hosts.stored(caller))
        var report = found.report
        report.erased = found.ids.count
        report.isComplete = try await unfinishedErasures() == nil
        return report
    }

    /// How often texts were erased; `nil` if none of them is left in the table.
    private nonisolated(nonsending) func unfinishedErasures() async throws(AlertError) -> Int64? {
        try await read("look for an erasure") { db, queue in
            try db.first(
                "SELECT erasures FROM heads WHERE queue = $1 AND erasures > erasures_done",
                queue
            ) { $0.integer() }
        }
    }

    package nonisolated(nonsending) func erase(
        before date: Date, by caller: Caller, rewritesFile: Bool,
        progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> PurgeReport {
        if let refusal { throw refusal }
        let caller = hosts.stored(caller)
        // Before anything is erased.
        if rewritesFile { try await checkOwner() }
        let found = try await survey(before: date, by: caller)
        var report = found.report
        try await eraseTexts(of: found.ids, &report, progress) { ids throws(AlertError) in
            try await writes.perform(.upkeep, "erase texts") { query in
                ids.prefix(Transaction.sliceLength).flatMap { query.reading($0) }
            } _: { transaction in
                let slice = try transaction.eraseTexts(of: ids, by: caller)
                if slice.erased > 0 {
                    try transaction.write(
                        Statement(
                            "UPDATE heads SET erasures = erasures + 1 WHERE queue = $1",
                            transaction.queue))
                }
                return slice
            }
        }
        if rewritesFile, !Task.isCancelled, let erasures = try await unfinishedErasures() {
            progress(PurgeProgress(phase: .file, done: 0, total: 1))
            do throws(AlertError) { try await vacuumTable() } catch .cancelled {
                return report
            }
            try await writes.perform(.upkeep, "note that the texts are gone") { transaction in
                try transaction.write(
                    Statement(
                        """
                        UPDATE heads SET erasures_done = greatest(erasures_done, $2)
                        WHERE queue = $1
                        """, transaction.queue, .integer(erasures)))
            }
            progress(PurgeProgress(phase: .file, done: 1, total: 1))
        }
        report.isComplete = try await unfinishedErasures() == nil
        return report
    }

    /// Makes sure that this account may rewrite the table.
    private nonisolated(nonsending) func checkOwner() async throws(AlertError) {
        let place = location.description
        try await read("look for the owner of the table “alerts”") { db, _ in
            let owns = try db.first(
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

    /// Frees the space of what was removed from the table and its indexes, beside other work; see
    /// <https://www.postgresql.org/docs/current/sql-vacuum.html>.
    ///
    /// With `FULL` nothing of it would be left in a page, but all queues would wait meanwhile.
    private nonisolated(nonsending) func vacuumTable() async throws(AlertError) {
        try await readAside("vacuum the table “alerts”") { db, _ in
            try db.execute("VACUUM (ANALYZE) alertq.alerts")
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
