import AlertCore
import AlertTables
import SQLite

extension SQLiteAlertStore: ErasingTableStore {
    package func checkMayRewrite() throws(AlertError) {
        // Once more when the log is empty.
        try QueueSpace(files).checkRoomToRewrite()
    }

    package nonisolated(nonsending) func eraseSlice(
        of ids: ArraySlice<Alert.ID>, by caller: Caller
    ) async throws(AlertError) -> ErasedSlice {
        let slice = try await writes.perform(.upkeep, "erase texts") { context in
            try context.eraseSlice(of: ids, by: caller)
        }
        // Processes that wait for the writer lock get it now.
        try? await Task.sleep(for: .milliseconds(1))
        return slice
    }

    package nonisolated(nonsending) func rewrite(
        completing erasures: Int64, _ progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) {
        guard try await mergeTextIndex(progress) else { return }
        progress(PurgeProgress(phase: .file, done: 0, total: 1))
        let isDone = try await withCancelCheck { isCancelled throws(AlertError) in
            try await writes.performAlone("rewrite the database") { writer in
                try writer.rewriteFile(completing: erasures, isCancelled: isCancelled)
            }
        }
        if isDone { progress(PurgeProgress(phase: .file, done: 1, total: 1)) }
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
        completing erasures: Int64, isCancelled: @escaping () -> Bool
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
        try transaction { try $0.write($0.query.complete(erasures)) }
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
