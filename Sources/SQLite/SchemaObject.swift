/// A table, an index, a view or a trigger from a file's table `sqlite_schema`.
///
/// See <https://sqlite.org/schematab.html>.
package struct SchemaObject: Equatable, Sendable {
    /// `table`, `index`, `view` or `trigger`.
    package let type: String
    package let name: String
    /// The table or view that it belongs to; for a table or view itself, its own name.
    package let table: String
    /// The statement that creates it; `nil` for what SQLite creates by itself.
    package let sql: String?

    /// The SQL condition for an object of `sqlite_schema` whose statement SQLite wrote, which differs
    /// between versions: its own, and the tables in which a virtual table stores its contents.
    package static func isMadeBySQLite(for virtualTable: String) -> String {
        "(substr(name, 1, 7) = 'sqlite_' OR name GLOB '\(virtualTable)_*')"
    }

    /// All objects of a database, oldest first.
    package static func all(
        in db: Database, virtualTable: String
    ) throws -> [SchemaObject] {
        let isMadeBySQLite = isMadeBySQLite(for: virtualTable)
        return try db.rows(
            """
            SELECT type, name, tbl_name, iif(\(isMadeBySQLite), NULL, sql)
            FROM sqlite_schema ORDER BY rowid
            """
        ) { row in
            SchemaObject(
                type: row.optionalText(at: 0) ?? "", name: row.optionalText(at: 1) ?? "",
                table: row.optionalText(at: 2) ?? "", sql: row.optionalText(at: 3))
        }
    }

    /// Byte by byte: texts that only look alike are not the same statement.
    package static func == (one: SchemaObject, other: SchemaObject) -> Bool {
        one.bytes == other.bytes
    }

    private var bytes: [[UInt8]?] { [type, name, table, sql].map { $0.map { Array($0.utf8) } } }

    /// Its unique key: case is ignored, and triggers have a separate namespace, which begins with a
    /// character that no name contains.
    fileprivate var key: String { (type == "trigger" ? "\0" : "") + Self.lowercased(name) }

    /// The name as SQLite compares it: only A to Z are converted to lower case.
    fileprivate static func lowercased(_ name: String) -> String {
        String(
            decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// The statement that removes it.
    fileprivate var removal: String {
        // Byte by byte: a quotation mark may be the beginning of a longer character.
        let mark = UInt8(ascii: "\"")
        let quoted = name.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] }
        return "DROP \(type.uppercased()) \"\(String(decoding: quoted, as: UTF8.self))\""
    }
}

/// An object that a schema lacks, or must not have in that form.
package struct SchemaFault: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case missing
        /// It is not as it must be, but like this.
        case changed(SchemaObject)
        /// A trigger or an index that was added to one of the expected tables or views.
        case foreign
    }

    /// The object, as it must be or as it was found.
    package let object: SchemaObject
    package let kind: Kind

    /// The statement that removes an object that was added; `nil` for an expected one.
    package var removal: String? { kind == .foreign ? object.removal : nil }

    /// The statements that put an expected object back; `nil` for a table, whose rows are gone or
    /// may not fit, unless it is a virtual one, and for an object that was added.
    package var restoration: String? {
        switch kind {
        case .missing where object.type != "table" || isVirtual: object.sql.map { $0 + ";" }
        case .changed(let found) where object.type == found.type && object.type != "table":
            object.sql.map { "\(found.removal);\n\($0);" }
        default: nil
        }
    }

    private var isVirtual: Bool { object.sql?.hasPrefix("CREATE VIRTUAL TABLE") == true }
}

/// A comparison of a database's schema with the one that it must have.
package struct SchemaComparison: Sendable {
    /// Expected objects that are changed or missing, then added ones that may do harm.
    package let faults: [SchemaFault]
    /// Harmless additions: tables, views, and indexes that refuse nothing.
    package let additions: [SchemaObject]

    /// Compares all objects; `found` are those of the database.
    package init(
        of found: [SchemaObject], in db: Database, with expected: [SchemaObject]
    ) throws {
        var missing = Dictionary(
            expected.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let tables = Set(
            expected.filter { $0.type == "table" || $0.type == "view" }
                .map { SchemaObject.lowercased($0.name) })
        var (changed, foreign): ([SchemaFault], [SchemaFault]) = ([], [])
        var additions: [SchemaObject] = []
        for object in found {
            if let expected = missing.removeValue(forKey: object.key) {
                if expected != object {
                    changed.append(SchemaFault(object: expected, kind: .changed(object)))
                }
            } else if try tables.contains(SchemaObject.lowercased(object.table))
                && !db.isHarmless(object)
            {
                foreign.append(SchemaFault(object: object, kind: .foreign))
            } else {
                additions.append(object)
            }
        }
        let gone = expected.filter { missing[$0.key] != nil }
        let tablesGone = Set(gone.filter { $0.type == "table" }.map(\.name))
        // A table takes its indexes and triggers with it.
        let lost = gone.filter { $0.type == "table" || !tablesGone.contains($0.table) }
        faults = changed + lost.map { SchemaFault(object: $0, kind: .missing) } + foreign
        self.additions = additions
    }
}

extension Database {
    /// Whether an object that was added leaves the rows of its table alone.
    ///
    /// A trigger could change what is stored, or prevent it from being stored, without an error. An
    /// index that does more than find rows may refuse some: evaluating an expression may fail, and a
    /// collation that only another program has. One that SQLite can't describe may do more.
    fileprivate func isHarmless(_ object: SchemaObject) throws -> Bool {
        guard object.type == "index" else { return object.type != "trigger" }
        let isPlain = try first(
            """
            SELECT "unique" = 0 AND partial = 0 AND NOT EXISTS (
                SELECT 1 FROM pragma_index_xinfo(?2)
                WHERE cid = -2 OR upper(coll) NOT IN ('BINARY', 'NOCASE', 'RTRIM'))
            FROM pragma_index_list(?1) WHERE lower(name) = lower(?2)
            """, .text(object.table), .text(object.name)
        ) { $0.integer() == 1 }
        return isPlain == true
    }

    /// The faults that SQLite finds in the file: in its structure, the order of its rows, the values
    /// of its columns, indexes that don't match their tables, and rows of a table whose counterparts
    /// are gone.
    ///
    /// See <https://sqlite.org/pragma.html#pragma_integrity_check> and
    /// <https://sqlite.org/pragma.html#pragma_foreign_key_check>.
    package func structuralDamage(strayingFrom table: String) throws -> [String] {
        let faults = try rows("PRAGMA integrity_check(10)") { $0.text() }.filter { $0 != "ok" }
        let strays = try rows("PRAGMA foreign_key_check(\(table))") { row in
            "a row of \(table) belongs to a row of \(row.optionalText(at: 2) ?? "") that is gone"
        }
        return faults + strays.prefix(10)
    }
}
