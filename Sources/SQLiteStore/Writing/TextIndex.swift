import AlertCore
import AlertTables
import Linux
import SQLite
import TextFormats

/// Where ids go on, the extent of the search index, and the state of erasures.
struct Upkeep: Sendable {
    /// The lowest id that the next alert may get.
    let firstID: Alert.ID
    /// The entry of the log up to which all responses are in the index.
    let indexed: Int64
    /// The newest time among these responses.
    let newest: Int64?
    /// The farthest that the time of one of them is before that of an earlier one, in milliseconds.
    let disorder: Int64
    /// How often texts were erased.
    let erasures: Int64
    /// How many of these erasures are known to be complete in all files.
    let erasuresDone: Int64

    fileprivate enum Column: Int, ColumnList {
        case firstId, indexedSeq, newestMs, disorderMs, erasures, erasuresDone
    }

    // Each ask reads it.
    fileprivate static let row = "SELECT \(Column.list) FROM upkeep"
}

extension Database {
    func upkeep() throws -> Upkeep {
        typealias Column = Upkeep.Column
        let upkeep = try first(Upkeep.row) { row in
            Upkeep(
                firstID: row.integer(Column.firstId), indexed: row.integer(Column.indexedSeq),
                newest: row.optionalInteger(Column.newestMs),
                disorder: row.integer(Column.disorderMs), erasures: row.integer(Column.erasures),
                erasuresDone: row.integer(Column.erasuresDone))
        }
        guard let upkeep else { throw AlertError.inconsistent(nil, "the row of upkeep is missing") }
        return upkeep
    }
}

// MARK: - Texts

extension SearchableText {
    /// Columns of the table `alerts`; others may follow in the query.
    enum Column: Int, ColumnList { case title, message, buttons, info, fieldValues, note }

    /// Reads a row that begins with ``Column``.
    ///
    /// An entry can only be removed from the index with exactly the words that it was added with:
    /// those of a row that the log confirms are the words of its alert.
    init(_ row: borrowing Row) {
        let (buttons, info) = (row.text(Column.buttons), row.text(Column.info))
        // Invalid JSON is a matter for the audit log; its words are found nevertheless.
        self.init(
            title: row.text(Column.title), message: row.text(Column.message),
            labels: (try? StoredJSON.buttons(buttons)).map(Self.labels) ?? buttons,
            info: (try? StoredJSON.strings(info)).map(Self.values) ?? info,
            answer: Self.answer(
                row.optionalText(Column.fieldValues)
                    .flatMap { try? JSONValue(parsing: Array($0.utf8)) },
                row.optionalText(Column.note)))
    }
}

extension Database {
    enum IndexChange { case adding, removing }

    /// Adds the words of a response's alert to the index, or removes them from it; see
    /// <https://sqlite.org/fts5.html#the_delete_command>.
    func changeIndex(_ change: IndexChange, _ sequence: Int64, _ text: SearchableText) throws {
        let command = change == .removing ? Value.text("delete") : .null
        try run(
            """
            INSERT INTO text_index (text_index, rowid, title, message, buttons, info, answer)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, [command, .integer(sequence)] + text.columns.map { .text($0.text) })
    }

    /// How many pages of the index one transaction merges.
    private static let mergeLength = 500

    /// Merges more of the index into one piece; returns whether there is more to do. See
    /// <https://sqlite.org/fts5.html#the_merge_command>.
    func mergeTextIndex(isFirst: Bool) throws -> Bool {
        let before = totalChanges
        try run(
            "INSERT INTO text_index (text_index, rank) VALUES ('merge', ?)",
            .integer(isFirst ? -Self.mergeLength : Self.mergeLength))
        return totalChanges - before >= 2
    }

    /// The approximate number of such merges.
    func textIndexMerges() throws -> Int {
        let pages = try first("SELECT count(*) FROM text_index_idx") { Int($0.integer()) }
        return (pages ?? 0) / Self.mergeLength + 1
    }

    /// Reads every word's positions; see
    /// <https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module>.
    fileprivate func checkTextIndex() throws {
        try execute(
            "CREATE VIRTUAL TABLE temp.index_words USING fts5vocab (main, text_index, row)")
        _ = try first("SELECT count(*), sum(doc) FROM temp.index_words") { $0.integer() }
        guard try upkeep().indexed <= lastSequence() else {
            throw AlertError.storage(
                operation: "use the search index", "it extends beyond the log")
        }
    }
}

// MARK: - Indexing

extension WriteContext {
    /// How many responses, and how many bytes of their words, one transaction indexes at most:
    /// asking and answering have to wait for it.
    private static let sliceLength = 1000
    private static let sliceSize = 1 << 20

    /// Indexes the next responses; returns whether there may be more.
    func indexSlice() throws -> Bool {
        let upkeep = try db.upkeep()
        guard upkeep.indexed <= head.sequence else {
            // Somebody has changed it: what comes next would never be indexed.
            try emptyIndex()
            return true
        }
        var (indexed, newest, disorder) = (upkeep.indexed, upkeep.newest, upkeep.disorder)
        var (count, size) = (0, 0)
        try db.visit(
            """
            SELECT \(SearchableText.Column.list), \(IndexColumn.list)
            FROM audit NOT INDEXED CROSS JOIN alerts ON alerts.id = audit.alert_id
                AND resolved_seq = seq
            WHERE seq > ? AND event = 'resolved' ORDER BY seq LIMIT \(Self.sliceLength)
            """, [.integer(indexed)]
        ) { row in
            indexed = row.integer(IndexColumn.resolvedSeq)
            if row.integer(IndexColumn.isErased) == 0 {
                let text = SearchableText(row)
                try db.changeIndex(.adding, indexed, text)
                size += text.byteCount
            }
            let resolved = row.integer(IndexColumn.resolvedMs)
            disorder = max(disorder, (newest ?? resolved).subtractingBounded(resolved))
            newest = max(newest ?? resolved, resolved)
            count += 1
            return size < Self.sliceSize
        }
        let mayBeMore = count == Self.sliceLength || size >= Self.sliceSize
        if !mayBeMore { indexed = head.sequence }
        // A few entries without a response are not worth a write.
        if count > 0 || indexed - upkeep.indexed >= Writer.manyUnindexed {
            try db.change(
                "UPDATE upkeep SET indexed_seq = ?, newest_ms = ?, disorder_ms = ?",
                .integer(indexed), .optional(newest), .integer(disorder))
        }
        return mayBeMore
    }

    private enum IndexColumn: Int, ColumnList {
        case resolvedSeq, resolvedMs, isErased

        static let offset = SearchableText.Column.end
        var sql: String { self == .isErased ? "salt IS NULL" : snakeCased }
    }

    /// Empties the search index, so that it is rebuilt.
    func emptyIndex() throws {
        try db.run("INSERT INTO text_index (text_index) VALUES ('delete-all')")
        try db.change("UPDATE upkeep SET indexed_seq = 0, newest_ms = NULL, disorder_ms = 0")
    }
}

extension Writer {
    /// How many new entries of the log make it worthwhile to index their responses while more are
    /// being stored: those of so many in one transaction write fewer pages than each by itself.
    static let manyUnindexed = 1000

    /// Indexes new responses in a transaction of their own, under the writer lock.
    ///
    /// What can't be indexed now is read by searches, and indexed later.
    ///
    /// - Parameter count: How many entries there must be.
    func indexTexts(ifAtLeast count: Int) {
        guard !mustCheck, !space.isReserveReleased, known.failure == nil, let db = database?.handle,
            let indexed = try? db.upkeep().indexed,
            let last = try? db.lastSequence(), last.subtractingBounded(indexed) >= count
        else { return }
        _ = try? transaction { _ = try $0.indexSlice() }
    }
}

extension SQLiteAlertStore: Maintenance {
    package nonisolated(nonsending) func rebuildTextIndex(
        _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) {
        try await writes.perform(.upkeep, "empty the search index") { try $0.emptyIndex() }
        let total = try await unindexedCount()
        var goesOn = true
        while goesOn {
            guard !Task.isCancelled else { throw .cancelled("the indexing of texts") }
            goesOn = try await indexSomeTexts()
            progress(max(0, total - (try await unindexedCount())), total)
            // Processes that wait for the writer lock get it now: the lock itself is not fair.
            if goesOn { try? await Task.sleep(for: .milliseconds(1)) }
        }
    }

    /// Adds the words of some more responses to the index; returns whether there may be more.
    nonisolated(nonsending) func indexSomeTexts() async throws(AlertError) -> Bool {
        try await writes.perform(.upkeep, "index the texts") { context in
            try usingTextIndex { try context.indexSlice() }
        }
    }

    /// See <https://sqlite.org/pragma.html#pragma_integrity_check>.
    package nonisolated(nonsending) func structuralDamage() async throws(AlertError) -> [String] {
        try await read("check the database") { try $0.structuralDamage(strayingFrom: "alerts") }
    }

    package nonisolated(nonsending) func unindexedCount() async throws(AlertError) -> Int {
        try await read("look at the search index") { db in
            try db.first(
                """
                SELECT count(*) FROM audit NOT INDEXED
                WHERE seq > (SELECT indexed_seq FROM upkeep) AND event = 'resolved'
                """
            ) { Int($0.integer()) } ?? 0
        }
    }

    package nonisolated(nonsending) func checkTextIndex() async throws(AlertError) {
        // Its temporary table has all statements of a connection compiled again.
        try await readAside("check the search index") { db in
            try usingTextIndex { try db.checkTextIndex() }
        }
    }
}

/// Runs a closure that reads or writes the search index, and reports damage as that of the index.
func usingTextIndex<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as SQLiteError where error.isDamage {
        throw AlertError.storage(
            operation: "search the texts",
            "the search index is damaged (\(error)); alertq doctor --reindex rebuilds it")
    }
}
