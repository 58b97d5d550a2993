import AlertCore
import SQLite

extension Database {
    func upkeep() throws -> Upkeep {
        typealias Column = Upkeep.Column
        return try first(Upkeep.query) { row in
            Upkeep(
                indexed: row.integer(Column.indexedSeq),
                newest: row.optionalInteger(Column.newestMs),
                disorder: row.integer(Column.disorderMs), erasures: row.integer(Column.erasures),
                erasuresDone: row.integer(Column.erasuresDone))
        } ?? Upkeep(indexed: 0, newest: nil, disorder: 0, erasures: 0, erasuresDone: 0)
    }

    /// How many responses are missing in the search index, including deleted numbers.
    func unindexedCount() throws -> Int {
        let newest = try first("SELECT max(seq) FROM responses") { $0.integer() } ?? 0
        // Neither number is negative unless the file was tampered with.
        let (last, indexed) = (max(0, newest), max(0, try upkeep().indexed))
        guard last.subtractingBounded(indexed) > RestoredQueue.jump else {
            return Int(max(0, last - indexed))
        }
        // The numbers in between were never assigned, because a backup was restored.
        return try first("SELECT count(*) FROM responses WHERE seq > ?", .integer(indexed)) {
            Int($0.integer())
        } ?? 0
    }

    /// Adds the words of a response's alert to the index.
    func addToIndex(_ sequence: Int64, _ text: IndexedText) throws {
        try run(
            """
            INSERT INTO text_index (rowid, title, message, buttons, info) VALUES (?, ?, ?, ?, ?)
            """, [.integer(sequence)] + text.values)
    }

    /// Removes the words of a response's alert from the index; see
    /// <https://sqlite.org/fts5.html#the_delete_command>.
    func removeFromIndex(_ sequence: Int64, _ text: IndexedText) throws {
        try run(
            """
            INSERT INTO text_index (text_index, rowid, title, message, buttons, info)
            VALUES ('delete', ?, ?, ?, ?, ?)
            """, [.integer(sequence)] + text.values)
    }

    /// The next response after a sequence number, with its texts unless they have been erased.
    fileprivate func responseToIndex(after sequence: Int64) throws -> ResponseToIndex? {
        try first(
            """
            SELECT \(IndexedText.columns), \(ResponseToIndex.Column.list) FROM responses
            CROSS JOIN alerts ON alerts.id = alert_id WHERE seq > ? ORDER BY seq LIMIT 1
            """, .integer(sequence)
        ) { row in
            ResponseToIndex(
                sequence: row.integer(ResponseToIndex.Column.seq),
                resolved: row.integer(ResponseToIndex.Column.resolvedMs),
                text: row.integer(ResponseToIndex.Column.isErased) == 1 ? nil : IndexedText(row))
        }
    }
}

private struct ResponseToIndex {
    let sequence: Int64
    let resolved: Int64
    let text: IndexedText?

    /// The columns read besides its text.
    enum Column: Int, ColumnList {
        case seq, resolvedMs, isErased

        static let offset = IndexedText.Column.end
        var sql: String { self == .isErased ? "salt IS NULL" : snakeCased }
    }
}

extension WriteContext {
    /// How many responses, and how many bytes of their texts, one transaction indexes at most:
    /// asking and answering must wait for it.
    private static let sliceLength = 250
    private static let sliceSize = 256 << 10

    /// Indexes the next responses; returns how many are left.
    func indexSlice() throws -> Int {
        let upkeep = try db.upkeep()
        var (indexed, size) = (upkeep.indexed, 0)
        var (newest, disorder) = (upkeep.newest, upkeep.disorder)
        for _ in 0..<Self.sliceLength where size < Self.sliceSize {
            guard let next = try db.responseToIndex(after: indexed) else { break }
            if let text = next.text {
                try db.addToIndex(next.sequence, text)
                size += text.byteCount
            }
            indexed = next.sequence
            disorder = max(disorder, (newest ?? next.resolved).subtractingBounded(next.resolved))
            newest = max(newest ?? next.resolved, next.resolved)
        }
        guard indexed > upkeep.indexed else { return 0 }
        try db.change(
            "UPDATE upkeep SET indexed_seq = ?, newest_ms = ?, disorder_ms = ?",
            .integer(indexed), .optional(newest), .integer(disorder))
        return try db.unindexedCount()
    }

    /// Empties the search index, so that it is rebuilt.
    func emptyIndex() throws {
        try db.run("INSERT INTO text_index (text_index) VALUES ('delete-all')")
        try db.change("UPDATE upkeep SET indexed_seq = 0, newest_ms = NULL, disorder_ms = 0")
    }
}
