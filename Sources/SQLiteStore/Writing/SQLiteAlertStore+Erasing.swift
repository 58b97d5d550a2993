import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import TextFormats

extension SQLiteAlertStore: Erasing {
    package nonisolated(nonsending) func erasable(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> PurgeReport {
        var (report, ids) = try await survey(before: date, by: caller)
        report.erased = ids.count
        report.isComplete = try await isErasureComplete()
        return report
    }

    package nonisolated(nonsending) func isErasureComplete() async throws(AlertError) -> Bool {
        try await unfinishedErasures() == nil
    }

    /// How often texts were erased; `nil` if none of them is left in any file.
    private nonisolated(nonsending) func unfinishedErasures() async throws(AlertError) -> Int64? {
        let upkeep = try await read("look for an erasure") { try $0.upkeep() }
        return upkeep.erasures == upkeep.erasuresDone ? nil : upkeep.erasures
    }

    package nonisolated(nonsending) func erase(
        before date: Date, by caller: Caller, rewritesFile: Bool,
        progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> PurgeReport {
        // Before anything is erased, and again when the log is empty.
        if rewritesFile { try QueueSpace(files).checkRoomToRewrite() }
        var (report, ids) = try await survey(before: date, by: caller)
        try await eraseTexts(of: ids, by: caller, &report, progress)
        if rewritesFile, !Task.isCancelled, let erasures = try await unfinishedErasures(),
            try await mergeTextIndex(progress)
        {
            progress(PurgeProgress(phase: .file, done: 0, total: 1))
            if try await rewriteFile(erasures: erasures) {
                progress(PurgeProgress(phase: .file, done: 1, total: 1))
            }
        }
        report.isComplete = try await isErasureComplete()
        return report
    }

    /// Finds the alerts whose texts can be erased, and counts the others that are old enough.
    private nonisolated(nonsending) func survey(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> (PurgeReport, [Alert.ID]) {
        let cutoff = Timestamp.milliseconds(date)
        return try await read("look for old responses", aside: true) { db in
            try db.erasable(before: cutoff, by: caller)
        }
    }

    private nonisolated(nonsending) func eraseTexts(
        of ids: [Alert.ID], by caller: Caller, _ report: inout PurgeReport,
        _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) {
        var rest = ids[...]
        while !rest.isEmpty, !Task.isCancelled {
            let slice = try await commits.perform(.upkeep, "erase texts") { [rest] context in
                try context.eraseTexts(of: rest, by: caller)
            }
            rest = rest.dropFirst(slice.seen)
            report.erased += slice.erased
            report.contradicted += slice.contradicted
            progress(
                PurgeProgress(phase: .texts, done: ids.count - rest.count, total: ids.count))
            // Processes that wait for the writer lock get it now.
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Merges the search index into one piece, which contains no removed words; `false` after a
    /// cancel.
    private nonisolated(nonsending) func mergeTextIndex(
        _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> Bool {
        let total = try await read("merge the search index") { try $0.textIndexMerges() }
        var done = 0
        while !Task.isCancelled {
            let isFirst = done == 0
            let goesOn = try await commits.perform(.upkeep, "merge the search index") { context in
                try usingTextIndex { try context.db.mergeTextIndex(isFirst: isFirst) }
            }
            done += 1
            progress(PurgeProgress(phase: .index, done: done, total: max(total, done)))
            guard goesOn else { return true }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return false
    }

    /// Rewrites the database; returns whether it was done, and not cancelled.
    private nonisolated(nonsending) func rewriteFile(
        erasures: Int64
    ) async throws(AlertError) -> Bool {
        try await withCancelCheck { isCancelled throws(AlertError) in
            try await commits.performAlone("rewrite the database") { writer in
                try writer.rewriteFile(erasures: erasures, isCancelled: isCancelled)
            }
        }
    }
}

extension Database {
    /// Whether a response still has to be collected, in SQL: it need not be if the alert was
    /// withdrawn or had no buttons, unless it names a handler, which runs for those too.
    /// ``StoredAlert/awaitsCollection`` is the same in Swift.
    private static let awaitsCollection = """
        collected_ms IS NULL AND (handler IS NOT NULL
            OR (outcome <> 'withdrawn' AND buttons <> '[]'))
        """

    private enum OldColumn: Int, ColumnList { case id, host, uid, awaitsCollection, isHandlers }

    /// The alerts with old responses whose texts can be erased, and the numbers of the others.
    fileprivate func erasable(
        before cutoff: Int64, by caller: Caller
    ) throws -> (PurgeReport, [Alert.ID]) {
        var (report, erasable) = (PurgeReport(), [Alert.ID]())
        try forEach(
            """
            SELECT alerts.id, sources.host, uid, \(Self.awaitsCollection), handler IS NOT NULL
            FROM alerts INDEXED BY alerts_outcome CROSS JOIN sources ON sources.id = source_id
            WHERE outcome IS NOT NULL AND resolved_ms < ? AND salt IS NOT NULL
            """, [.integer(cutoff)]
        ) { row in
            let uid = UInt32(exactly: row.integer(OldColumn.uid))
            let owner = uid.map { Account(uid: $0, host: row.text(OldColumn.host)) }
            if owner.map(caller.hasRight) != true {
                report.others += 1
            } else if row.integer(OldColumn.awaitsCollection) == 1 {
                report.uncollected += 1
                report.handled += Int(row.integer(OldColumn.isHandlers))
            } else {
                erasable.append(row.integer(OldColumn.id))
            }
        }
        return (report, erasable)
    }
}

extension WriteContext {
    /// How many alerts, and how many bytes of their texts, one transaction erases at most.
    private static let sliceLength = 200
    private static let sliceSize = 512 << 10

    /// Erases the texts of the first of some alerts, and records that in the log.
    ///
    /// - Returns: How many alerts were examined, how many lost their texts, and how many keep them
    ///   because the log contradicts them.
    fileprivate func eraseTexts(
        of ids: ArraySlice<Alert.ID>, by caller: Caller
    ) throws -> (seen: Int, erased: Int, contradicted: Int) {
        let indexed = try db.upkeep().indexed
        var (seen, size, contradicted) = (0, 0, 0)
        var erased: [Alert.ID] = []
        for id in ids.prefix(Self.sliceLength) where size < Self.sliceSize {
            seen += 1
            guard let row = try db.consistentAlert(id) else {
                // Its texts stay as evidence.
                contradicted += 1
                continue
            }
            // Another purge may have erased it since it was found.
            guard let sequence = row.alert.resolvedSequence, !row.record.isErased,
                caller.hasRight(over: row.record.source.account)
            else { continue }
            let words = SearchableText(row.record)
            if sequence <= indexed {
                try db.changeIndex(.removing, sequence, words)
            }
            let left = ErasedButtons(of: row.record.alert)
            // The entry that names all of them is the next one.
            try db.change(
                """
                UPDATE alerts SET title = NULL, message = NULL, buttons = ?, info = '{}',
                    fields = NULL, field_values = NULL, note = NULL,
                    default_button = ?, salt = NULL, erased_seq = ? WHERE id = ?
                """, .text(StoredJSON.encode(left.buttons)), .optional(left.defaultButton),
                .integer(head.sequence.addingBounded(1)), .integer(id))
            erased.append(id)
            size += words.byteCount
        }
        guard !erased.isEmpty else { return (seen, 0, contradicted) }
        // It concerns the whole queue; its detail names the alerts.
        var entry = AuditDraft(kind: .erased)
        entry.detail = ErasedAlerts(erased.sorted()).detail
        try audit(entry, by: caller)
        try db.change("UPDATE upkeep SET erasures = erasures + 1")
        return (seen, erased.count, contradicted)
    }
}

extension Writer {
    /// How long emptying the log waits for programs that read the database.
    private static let readersTime = Duration.seconds(5)

    /// Rewrites the database and empties the log, so that neither has any deleted text.
    ///
    /// Meanwhile nothing can be written; what can be read is what was there before.
    ///
    /// - Parameters:
    ///   - erasures: How often texts had been erased when this began; these erasures are complete
    ///     then.
    ///   - isCancelled: Called again and again; `true` ends it, and nothing has changed.
    /// - Returns: Whether it was done, and not cancelled.
    fileprivate func rewriteFile(
        erasures: Int64, isCancelled: @escaping () -> Bool
    ) throws -> Bool {
        let db = try db()
        lock.mark(isRewriting: true)
        defer { lock.mark(isRewriting: false) }
        guard try emptyLog(unless: isCancelled) else { return false }
        try space.checkRoomToRewrite()
        do {
            try db.vacuum(copyingIn: file.files.directory, isCancelled: isCancelled)
        } catch {
            // Pages that were not committed would keep their space in the log.
            _ = try? db.checkpoint(.truncate)
            if error.isInterrupt { return false }
            throw error
        }
        _ = try emptyLog()
        try transaction { _ in
            try db.change(
                "UPDATE upkeep SET erasures_done = max(erasures_done, ?)", .integer(erasures))
        }
        return true
    }

    /// Empties the log, unless that is cancelled before.
    private func emptyLog(unless isCancelled: () -> Bool = { false }) throws -> Bool {
        let (db, limit) = (try db(), ContinuousClock.now + Self.readersTime)
        while !isCancelled() {
            // A page changes, so that the log can't be emptied while a program is in a transaction,
            // no matter which state of the file that reads.
            try transaction { try $0.db.change("UPDATE upkeep SET erasures = erasures") }
            if try db.checkpoint(.truncate) { return true }
            guard ContinuousClock.now < limit else {
                throw AlertError.busy(
                    "a program keeps reading the database, so erased texts are still in its "
                        + "files; end that program, then purge again")
            }
        }
        return false
    }

    /// Does a job's work after its commit; returns the error if that failed.
    func run(_ job: WriteJob) -> AlertError? {
        do {
            try job.afterCommit?(self)
            return nil
        } catch {
            mustCheck = mustCheck || ((error as? SQLiteError)?.isIOError ?? false)
            return translated(error, job.operation)
        }
    }
}
