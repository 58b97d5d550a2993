#if PostgreSQL
    import AlertCore
    import AlertTables
    import FoundationEssentials
    import PostgreSQL
    import TextFormats

    extension PostgreSQLAlertStore: Erasing {
        package nonisolated(nonsending) func erasable(
            before date: Date, by caller: Caller
        ) async throws(AlertError) -> PurgeReport {
            let found = try await survey(before: date, by: hosts.stored(caller))
            var report = found.report
            report.erased = found.ids.count
            return report
        }

        package nonisolated(nonsending) func erase(
            before date: Date, by caller: Caller, rewritesFile: Bool,
            progress: @Sendable (PurgeProgress) -> Void
        ) async throws(AlertError) -> PurgeReport {
            if let refusal { throw refusal }
            let caller = hosts.stored(caller)
            let found = try await survey(before: date, by: caller)
            var report = found.report
            var rest = found.ids[...]
            while !rest.isEmpty, !Task.isCancelled {
                let slice = try await writer.perform("erase texts") { [rest] transaction in
                    try transaction.eraseTexts(of: rest, by: caller)
                }
                rest = rest.dropFirst(slice.seen)
                report.erased += slice.erased
                report.contradicted += slice.contradicted
                progress(
                    PurgeProgress(
                        phase: .texts, done: found.ids.count - rest.count,
                        total: found.ids.count))
            }
            guard report.erased > 0 else { return report }
            guard rewritesFile, !Task.isCancelled else {
                report.isComplete = false
                return report
            }
            progress(PurgeProgress(phase: .file, done: 0, total: 1))
            try await rewriteTable()
            progress(PurgeProgress(phase: .file, done: 1, total: 1))
            return report
        }

        private nonisolated(nonsending) func survey(
            before date: Date, by caller: Caller
        ) async throws(AlertError) -> ErasableAlerts {
            let cutoff = Timestamp.milliseconds(date)
            return try await read("look for old responses", aside: true) { db, queue in
                var found = ErasableAlerts(for: caller)
                try db.visit(
                    Statement(
                        """
                        SELECT \(ErasableAlerts.Column.list)
                        FROM alerts JOIN sources ON sources.id = source_id
                        WHERE alerts.queue = $1
                            AND \(ErasableAlerts.condition(before: "$2"))
                        """, queue, .integer(cutoff))
                ) { row in
                    found.add(row)
                    return true
                }
                return found
            }
        }

        /// Rewrites the table and its indexes, without what was removed from them; see
        /// <https://www.postgresql.org/docs/current/sql-vacuum.html>.
        private nonisolated(nonsending) func rewriteTable() async throws(AlertError) {
            let place = location.description
            try await read("rewrite the table “alerts”", aside: true) { db, _ in
                db.timeLimit = .seconds(3600)
                try db.execute("VACUUM (FULL, ANALYZE) alerts")
                // The server warns an account that may not do it, and does nothing.
                guard let warning = db.notices.first(where: { $0.severity == "WARNING" }) else {
                    return
                }
                throw AlertError.notPermitted(
                    path: place,
                    "the texts are erased, and still in places of the table that are no longer used: "
                        + "\(warning.message); its owner removes them with VACUUM FULL alerts")
            }
        }
    }

    extension Transaction: ErasingTransaction {
        func erase(_ alert: StoredAlert, leaving left: ErasedButtons) throws {
            // The entry that names all of them is the next one.
            write(
                """
                UPDATE alerts SET title = NULL, message = NULL, buttons = $3, info = '{}',
                    fields = NULL, field_values = NULL, note = NULL, default_button = $4,
                    salt = NULL, words = NULL, erased_seq = $5 WHERE queue = $1 AND id = $2
                """, queue, .integer(alert.record.id), .text(StoredJSON.encode(left.buttons)),
                .optional(left.defaultButton), .integer(head.sequence.addingBounded(1)))
            state.changedAlerts.insert(alert.record.id)
        }
    }
#endif
