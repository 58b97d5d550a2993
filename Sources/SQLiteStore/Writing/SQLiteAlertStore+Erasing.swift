import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import TextFormats

extension SQLiteAlertStore: Erasing {
    package var time: ClockReading { clock.now() }

    package nonisolated(nonsending) func erasable(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> PurgeReport {
        let found = try await survey(before: date, by: caller)
        var report = found.report
        report.erased = found.ids.count
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
        let found = try await survey(before: date, by: caller)
        var report = found.report
        try await eraseTexts(of: found.ids, &report, progress) { ids throws(AlertError) in
            let slice = try await writes.perform(.upkeep, "erase texts") { context in
                let slice = try context.eraseTexts(of: ids, by: caller)
                if slice.erased > 0 {
                    try context.db.change("UPDATE upkeep SET erasures = erasures + 1")
                }
                return slice
            }
            // Processes that wait for the writer lock get it now.
            try? await Task.sleep(for: .milliseconds(1))
            return slice
        }
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

    /// Merges the search index into one piece, which contains no removed words; `false` after a
    /// cancel.
    private nonisolated(nonsending) func mergeTextIndex(
        _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> Bool {
        let total = try await read("merge the search index") { try $0.textIndexMerges() }
        var done = 0
        while !Task.isCancelled {
            let isFirst = done == 0
            let goesOn = try await writes.perform(.upkeep, "merge the search index") { context in
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
            try await writes.performAlone("rewrite the database") { writer in
                try writer.rewriteFile(erasures: erasures, isCancelled: isCancelled)
            }
        }
    }
}

extension WriteContext: ErasingTransaction {
    func erase(_ alert: StoredAlert, leaving left: ErasedButtons) throws {
        let record = alert.record
        if let sequence = alert.resolvedSequence, sequence <= (try db.upkeep().indexed) {
            try db.changeIndex(.removing, sequence, SearchableText(record))
        }
        // The entry that names all of them is the next one.
        try write(
            query.erased(record.id, leaving: left, entry: head.sequence.addingBounded(1)))
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

    /// Does a job's work outside of a transaction; returns the error if that failed.
    func runOutside(_ job: WriteJob) -> AlertError? {
        do {
            try job.afterCommit?(self)
            return nil
        } catch {
            mustCheck = mustCheck || ((error as? SQLiteError)?.isIOError ?? false)
            return translated(error, job.operation)
        }
    }
}
