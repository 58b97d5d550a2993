import AlertCore
import SQLite

/// Restores alertq's own schema objects in one transaction, without touching any rows or other
/// programs' objects.
///
/// It works even if SQLite itself refuses to read the schema, such as one with a trigger whose
/// statement can't be parsed. See <https://sqlite.org/pragma.html#pragma_writable_schema>.
struct SchemaRepair {
    private let db: Database
    /// An empty queue with the schema that the file must have.
    private let model: Database
    private let expected: [SchemaObject]
    private let version: Int

    init(of db: Database, to version: Int) throws {
        self.db = db
        self.version = version
        model = try .model(at: version)
        expected = try SchemaObject.expected(at: version)
    }

    /// Repairs all that can be repaired, under the writer lock.
    ///
    /// - Returns: The repaired faults.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if anything of alertq's own can't be repaired;
    ///   then nothing has changed at all.
    func run() throws -> [SchemaFault] {
        db.setDefensive(false)
        db.setTriggers(areOn: false)
        defer {
            db.setTriggers(areOn: true)
            db.setDefensive(true)
        }
        try db.execute("PRAGMA writable_schema = ON; PRAGMA synchronous = EXTRA; BEGIN IMMEDIATE")
        do {
            let all = try SchemaComparison(of: db, with: expected).faults
            let faults = all.filter { $0.removal == nil }
            guard !faults.isEmpty else {
                try end("ROLLBACK")
                return []
            }
            let foreign = all.filter { $0.removal != nil }
            try repair(faults, beside: foreign)
            try check()
            try end("COMMIT")
            return faults
        } catch {
            // The first error is the one to report.
            if db.isInTransaction { try? end("ROLLBACK") }
            throw error
        }
    }

    private func end(_ statement: String) throws(SQLiteError) {
        try db.execute(statement)
        try db.reloadSchema()
    }

    private func repair(_ faults: [SchemaFault], beside foreign: [SchemaFault]) throws {
        // Only the text index may be rebuilt, whose tables are dropped and created together.
        let isIndexBroken = faults.contains { $0.object.isPartOfTextIndex }
        for fault in faults where !fault.object.isPartOfTextIndex { try mend(fault) }
        try noteChange()
        if isIndexBroken {
            if let fault = foreign.first(where: {
                $0.object.table.asciiLowercased.hasPrefix("text_index")
            }) {
                throw impossible("\(fault.description), and would go with it")
            }
            try removeTextIndex()
        }
        for object in expected {
            guard let sql = object.sql, try !isThere(object) else { continue }
            try db.execute(sql)
        }
        if isIndexBroken {
            try db.change("UPDATE upkeep SET indexed_seq = 0, newest_ms = NULL, disorder_ms = 0")
        }
    }

    /// Repairs one object in place, or drops an index that is to be created again.
    private func mend(_ fault: SchemaFault) throws {
        guard case .changed(let ours, let found) = fault else {
            // A table has rows, and an object that SQLite creates belongs to a table.
            guard fault.object.type != "table", fault.object.sql != nil else {
                throw impossible("\(fault.object.subject) is missing")
            }
            return
        }
        guard ours.type == found.type, let sql = ours.sql else {
            throw impossible(fault.description)
        }
        if ours.type == "index" {
            try db.execute("DROP INDEX \(found.name.sqlQuoted)")
            return
        }
        if ours.type == "table" {
            guard try columns(of: found.name, in: db) == columns(of: ours.name, in: model) else {
                throw impossible("\(ours.subject) has other columns")
            }
        }
        try db.change(
            """
            UPDATE sqlite_schema SET name = ?, tbl_name = ?, sql = ? WHERE type = ? AND name = ?
            """, .text(ours.name), .text(ours.table), .text(sql), .text(found.type),
            .text(found.name))
    }

    /// Makes every connection, including this one, read the schema again.
    private func noteChange() throws {
        let cookie = try db.first("PRAGMA schema_version") { $0.integer() } ?? 0
        try db.execute("PRAGMA schema_version = \((cookie + 1) & 0x7fff_ffff)")
        try db.reloadSchema()
    }

    /// Removes the remains of the text index, whose tables are ordinary ones without it.
    private func removeTextIndex() throws {
        try db.execute("PRAGMA writable_schema = ON")
        try db.execute(
            """
            DELETE FROM sqlite_schema
            WHERE type = 'table' AND name = 'text_index' AND coalesce(rootpage, 0) = 0
            """)
        try noteChange()
        for table in expected where table.name.hasPrefix("text_index_") && table.type == "table" {
            try db.execute("DROP TABLE IF EXISTS \(table.name.sqlQuoted)")
        }
    }

    private func isThere(_ object: SchemaObject) throws -> Bool {
        try db.first(
            "SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?", .text(object.type),
            .text(object.name)
        ) { _ in true } ?? false
    }

    /// A table's columns, and whether its rows are stored as in other tables.
    private func columns(of table: String, in db: Database) throws -> [String] {
        try db.rows(
            """
            SELECT format('%s|%s|%s|%s', name, upper(type), pk, hidden) FROM pragma_table_xinfo(?1)
            UNION ALL
            SELECT format('%s|%s', type, wr) FROM pragma_table_list WHERE name = ?1
                AND schema = 'main'
            """, .text(table)
        ) { $0.text() }
    }

    /// Makes sure that nothing of alertq's own is left to repair, and that the rows satisfy the
    /// constraints again.
    private func check() throws {
        try db.reloadSchema()
        let left = try SchemaComparison(of: db, with: expected).faults.filter { $0.removal == nil }
        if let fault = left.first { throw impossible(fault.description) }
        let damage = try db.structuralDamage()
        if let finding = damage.first { throw impossible(finding) }
    }

    private func impossible(_ reason: String) -> AlertError {
        .inconsistent(nil, "it can't be repaired: \(reason); restore a copy of the file")
    }
}
