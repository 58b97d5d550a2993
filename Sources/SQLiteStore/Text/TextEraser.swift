import AlertCore
import Linux
import SQLite

extension AlertRecord {
    /// Whether its response still has to be collected.
    var awaitsCollection: Bool {
        alert.handler != nil || (response?.outcome != .withdrawn && !alert.buttons.isEmpty)
    }
}

/// Erases the texts of alerts within a write transaction.
struct TextEraser {
    /// How many alerts, and how many bytes of their texts, one transaction erases at most.
    private static let sliceLength = 200
    private static let sliceSize = 512 << 10

    /// Whether the response still has to be collected, in SQL: it need not be if the alert was
    /// withdrawn or had no buttons, unless it names a handler, which runs for those too.
    /// ``AlertRecord/awaitsCollection`` is the same in Swift.
    static let awaitsCollection = """
        collected_ms IS NULL AND (responses.handler IS NOT NULL
            OR (outcome <> 'withdrawn' AND buttons <> '[]'))
        """

    let context: WriteContext
    private var db: Database { context.db }

    /// The texts of a row, to be removed from the index and from the row.
    private struct Texts {
        let sequence: Int64
        let indexed: IndexedText

        enum Column: Int, ColumnList {
            case seq

            static let offset = IndexedText.Column.end
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
        let salt = AuditEntry.makeSalt()
        var erased: [Alert.ID] = []
        var keys: [Alert.ID: [UInt8]] = [:]
        for id in ids.prefix(Self.sliceLength) where size < Self.sliceSize {
            seen += 1
            guard let texts = try texts(of: id, before: cutoff) else { continue }
            guard let row = try db.consistentAlert(id) else {
                // Its texts stay as evidence.
                contradicted += 1
                continue
            }
            let (alert, source) = (row.record.alert, row.record.source)
            guard caller.hasRight(over: source.uid) else { continue }
            if alert.key != nil, try db.isAskedBefore(id) {
                keys[id] = KeyDigest(of: alert, source: source.name, salt: salt)?.hash
            }
            if texts.sequence <= indexed {
                try db.removeFromIndex(texts.sequence, texts.indexed)
            }
            try overwrite(row.record, texts)
            erased.append(id)
            size += texts.indexed.byteCount
        }
        guard !erased.isEmpty else { return (seen, 0, contradicted) }
        var alerts = ErasedAlerts(erased.sorted())
        alerts.left = try db.leftHash(of: alerts)
        alerts.salt = salt
        alerts.keys = keys
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
            SELECT \(IndexedText.columns), \(Texts.Column.list)
            FROM alerts JOIN responses ON alert_id = alerts.id
            WHERE alerts.id = ? AND salt IS NOT NULL AND resolved_ms < ?
                AND NOT (\(Self.awaitsCollection))
            """, .integer(id), .integer(cutoff)
        ) { row in
            Texts(sequence: row.integer(Texts.Column.seq), indexed: IndexedText(row))
        }
    }

    private func overwrite(_ record: AlertRecord, _ texts: Texts) throws {
        let left = ErasedButtons(of: record.alert)
        try db.change(
            """
            UPDATE alerts SET title = NULL, message = NULL, buttons = ?, info = '{}',
                default_button = ?, salt = NULL WHERE id = ?
            """, .text(StoredJSON.encode(left.buttons)), .optional(left.defaultButton),
            .integer(record.id))
        guard let index = record.response?.buttonIndex, left.buttons.indices.contains(index),
            left.buttons[index].id == nil
        else { return }
        try db.change(
            "UPDATE responses SET button = NULL WHERE seq = ?", .integer(texts.sequence))
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

extension Writer {
    /// How many pages are examined under one hold of the lock.
    private static let clearLength = 2000

    /// Empties the log, and overwrites the unused space of some pages.
    ///
    /// - Parameter erasures: How often texts had been erased when this began; these erasures are
    ///   complete once the last page is done.
    /// - Returns: The page to continue with, or `nil` at the end; and the number of pages.
    func clearUnallocatedSpace(
        from page: Int, erasures: Int64
    ) throws -> (next: Int?, total: Int) {
        let db = try db()
        guard try db.checkpoint(.truncate) else { throw AlertError.readersKeepTexts }
        try beginChecked()
        do {
            // A program without our lock may have written in the meantime; the contents of the log
            // would be copied over what is overwritten here.
            guard FileIdentity(path: file.files.wal)?.size ?? 0 == 0 else {
                throw AlertError.readersKeepTexts
            }
            let cleared = try db.clearUnallocatedSpace(from: page, count: Self.clearLength)
            if cleared.next == nil { try db.syncFile() }
            // All connections have old pages in memory. This one discards them before it writes one
            // of them back, the others because of the commit.
            db.forgetPages()
            try db.change(
                """
                UPDATE upkeep SET clearings = clearings + 1,
                    erasures_done = CASE WHEN ? THEN max(erasures_done, ?) ELSE erasures_done END
                """, .integer(cleared.next == nil ? 1 : 0), .integer(erasures))
            try db.run("COMMIT")
            db.forgetPages()
            return cleared
        } catch {
            rollbackIfNeeded()
            database?.handle.forgetPages()
            throw error
        }
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

extension AlertError {
    /// A program reads an old state of the database, so the log with its old pages must stay.
    static let readersKeepTexts = AlertError.busy(
        "a program keeps reading the database, so erased texts are still in its log; "
            + "end that program, then purge again")
}
