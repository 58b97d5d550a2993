import AlertCore
import Linux
import SQLite

extension AlertRecord {
    /// Whether its response is somebody's to collect.
    var awaitsCollection: Bool {
        alert.handler != nil || (response?.outcome != .withdrawn && !alert.buttons.isEmpty)
    }
}

/// Erases the texts of alerts within a write transaction.
struct TextEraser {
    /// How many alerts, and how many bytes of their texts, one transaction erases at most.
    private static let sliceLength = 200
    private static let sliceSize = 512 << 10

    /// Whether somebody may still come for the response, in SQL: nobody does where the alert was
    /// taken back or had nothing to choose, unless it names a handler, which runs for those too.
    /// ``AlertRecord/awaitsCollection`` is the same in Swift.
    static let awaitsCollection = """
        collected_ms IS NULL AND (responses.handler IS NOT NULL
            OR (outcome <> 'withdrawn' AND buttons <> '[]'))
        """

    let context: WriteContext
    private var db: Database { context.db }

    /// What a row had, to be taken out of the index and out of itself.
    private struct Texts {
        let sequence: Int64
        let indexed: IndexedText

        enum Column: Int32, ColumnList {
            case seq

            static let offset = IndexedText.Column.end
        }
    }

    /// Erases the texts of the first of some alerts, and says so in the log.
    ///
    /// Alerts that have lost their texts already, that the caller has no right over, or whose
    /// response is not old or still has to be collected, are passed over.
    ///
    /// - Returns: How many alerts were looked at, how many lost their texts, and how many keep them
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

// What is left to do once the texts are gone from their rows.
extension WriteContext {
    /// How many pages of the index one transaction merges.
    private static let mergeLength = 500

    /// Merges some more of the index of words into one piece, in which no word is left that has
    /// been taken out; returns whether there is more to do.
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

    /// Roughly how many such merges it takes.
    func mergeCount() throws -> Int {
        let pages = try db.first("SELECT count(*) FROM text_index_idx") { Int($0.integer()) }
        return (pages ?? 0) / Self.mergeLength + 1
    }
}

extension Writer {
    /// How many pages are looked at under one hold of the lock.
    private static let clearLength = 2000

    /// Empties the log, and overwrites the unused space of some pages.
    ///
    /// - Parameter erasures: How often texts had been erased when this began; so often they are
    ///   known to be gone once the last page is done.
    /// - Returns: The page to go on with, or `nil` at the end; and how many there are.
    func clearUnallocatedSpace(
        from page: Int, erasures: Int64
    ) throws -> (next: Int?, total: Int) {
        let db = try db()
        guard try db.checkpoint(.truncate) else { throw AlertError.readersKeepTexts }
        try beginChecked()
        do {
            // A program without our lock may have written since; what is in the log now would be
            // copied over what is overwritten here.
            guard FileIdentity(path: file.files.wal)?.size ?? 0 == 0 else {
                throw AlertError.readersKeepTexts
            }
            let cleared = try db.clearUnallocatedSpace(from: page, count: Self.clearLength)
            if cleared.next == nil { try db.syncFile() }
            // All connections have pages in memory with what was there before. This one forgets
            // them before it writes one of them back, the others because of the commit.
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

    /// Does what a job has left for after its commit; returns why that failed, if it did.
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
    /// Somebody reads an old state of the database, so the log with its old pages must stay.
    static let readersKeepTexts = AlertError.busy(
        "a program keeps reading the database, so erased texts still stand in its log; "
            + "end that program, then purge again")
}
