import AlertCore
import Linux
import SQLite

/// Erases the texts of alerts within a write transaction.
struct TextEraser {
    /// How many alerts, and how many bytes of their texts, one transaction erases at most.
    private static let sliceLength = 200
    private static let sliceSize = 512 << 10

    /// Whether the response still has to be collected, in SQL: it need not be if the alert was
    /// withdrawn or had no buttons, unless it names a handler, which runs for those too.
    /// ``StoredAlert/awaitsCollection`` is the same in Swift.
    static let awaitsCollection = """
        collected_ms IS NULL AND (handler IS NOT NULL
            OR (outcome <> 'withdrawn' AND buttons <> '[]'))
        """

    let context: WriteContext
    private var db: Database { context.db }

    /// The texts of a row, to be removed from the index and from the row.
    private struct Texts {
        let sequence: Int64
        let words: SearchableText

        enum Column: Int, ColumnList {
            case resolvedSeq

            static let offset = SearchableText.Column.end
        }
    }

    /// Erases the texts of the first of some alerts, and records that in the log.
    ///
    /// It skips alerts whose texts are already erased, over which the caller has no right, or whose
    /// response is not old enough or still has to be collected.
    ///
    /// - Returns: How many alerts were examined, how many lost their texts, and how many keep them
    ///   because the log contradicts them.
    func erase(
        _ ids: [Alert.ID], before cutoff: Int64, by caller: Caller
    ) throws -> (seen: Int, erased: Int, contradicted: Int) {
        let indexed = try db.upkeep().indexed
        var (seen, size, contradicted) = (0, 0, 0)
        var erased: [Alert.ID] = []
        for id in ids.prefix(Self.sliceLength) where size < Self.sliceSize {
            seen += 1
            guard let texts = try texts(of: id, before: cutoff) else { continue }
            guard let row = try db.consistentAlert(id) else {
                // Its texts stay as evidence.
                contradicted += 1
                continue
            }
            guard caller.hasRight(over: row.record.source.uid) else { continue }
            if texts.sequence <= indexed {
                try db.removeFromIndex(texts.sequence, texts.words)
            }
            try overwrite(row.record)
            erased.append(id)
            size += texts.words.byteCount
        }
        guard !erased.isEmpty else { return (seen, 0, contradicted) }
        let alerts = ErasedAlerts(erased.sorted())
        try context.audit(AuditDraft(erased: alerts), by: caller)
        for id in erased {
            try db.change(
                "UPDATE alerts SET erased_seq = ? WHERE id = ?",
                .integer(context.head.sequence), .integer(id))
        }
        try db.change("UPDATE upkeep SET erasures = erasures + 1")
        return (seen, erased.count, contradicted)
    }

    private func texts(of id: Alert.ID, before cutoff: Int64) throws -> Texts? {
        try db.first(
            """
            SELECT \(SearchableText.Column.list), \(Texts.Column.list) FROM alerts
            WHERE id = ? AND outcome IS NOT NULL AND salt IS NOT NULL AND resolved_ms < ?
                AND NOT (\(Self.awaitsCollection))
            """, .integer(id), .integer(cutoff)
        ) { row in
            Texts(sequence: row.integer(Texts.Column.resolvedSeq), words: SearchableText(row))
        }
    }

    private func overwrite(_ record: AlertRecord) throws {
        let left = ErasedButtons(of: record.alert)
        try db.change(
            """
            UPDATE alerts SET title = NULL, message = NULL, buttons = ?, info = '{}',
                default_button = ?, salt = NULL WHERE id = ?
            """, .text(StoredJSON.encode(left.buttons)), .optional(left.defaultButton),
            .integer(record.id))
    }
}

// The steps after the texts have been removed from their rows.
extension WriteContext {
    /// How many pages of the index one transaction merges.
    private static let mergeLength = 500

    /// Merges more of the search index into one piece, which contains no removed words; returns
    /// whether there is more to do.
    ///
    /// See <https://sqlite.org/fts5.html#the_merge_command>.
    func mergeIndex(isFirst: Bool) throws -> Bool {
        let before = db.totalChanges
        do {
            try db.run(
                "INSERT INTO text_index (text_index, rank) VALUES ('merge', ?)",
                .integer(isFirst ? -Self.mergeLength : Self.mergeLength))
        } catch  where error.isDamage {
            throw AlertError.damagedIndex(error)
        }
        return db.totalChanges - before >= 2
    }

    /// The approximate number of such merges.
    func mergeCount() throws -> Int {
        let pages = try db.first("SELECT count(*) FROM text_index_idx") { Int($0.integer()) }
        return (pages ?? 0) / Self.mergeLength + 1
    }
}

extension WriteContext {
    /// Changes a page without changing anything: the checkpoint that follows then fails while a
    /// program is in a transaction, no matter which state of the file that reads.
    func touch() throws {
        try db.change("UPDATE upkeep SET erasures = erasures")
    }
}

extension Writer {
    /// How long emptying the log waits for those who began to read meanwhile.
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
    func rewriteFile(erasures: Int64, isCancelled: @escaping () -> Bool) throws -> Bool {
        let db = try db()
        lock.mark(isRewriting: true)
        defer { lock.mark(isRewriting: false) }
        guard !isCancelled() else { return false }
        guard try db.checkpoint(.truncate) else { throw AlertError.readersKeepTexts }
        try file.files.checkRoomToRewrite()
        do {
            try db.vacuum(copyingIn: file.files.directory, isCancelled: isCancelled)
        } catch {
            // Pages that were not committed would keep their space in the log.
            _ = try? db.checkpoint(.truncate)
            if error.isInterrupt { return false }
            throw error
        }
        let limit = ContinuousClock.now + Self.readersTime
        while try !db.checkpoint(.truncate) {
            guard ContinuousClock.now < limit else { throw AlertError.readersKeepTexts }
        }
        try beginChecked()
        do {
            try db.change(
                "UPDATE upkeep SET erasures_done = max(erasures_done, ?)", .integer(erasures))
            try db.run("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        return true
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

extension QueueFiles {
    /// Makes sure that the database can be rewritten: its copy and the log, each as large as it is
    /// now, have to fit on its file system.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)``.
    func checkRoomToRewrite() throws(AlertError) {
        let size = FileIdentity(path: database)?.size ?? 0
        let log = FileIdentity(path: wal)?.size ?? 0
        let needed = (size + log) / 5 * 11
        guard let free = try QueueSpace(database: database).free, free < needed else { return }
        throw .storage(
            operation: "rewrite \(database), as a purge does at its end",
            "\(needed >> 20) MiB have to be free on its file system, and \(free >> 20) MiB are")
    }
}

extension AlertError {
    /// A program reads an old state of the database, so the log with its old pages must stay.
    static let readersKeepTexts = AlertError.busy(
        "a program keeps reading the database, so erased texts are still in its files; "
            + "end that program, then purge again")
}
