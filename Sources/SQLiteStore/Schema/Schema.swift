import AlertCore
import Glibc
import Migrations
import SQLite

/// The schema that this version of alertq works with, as defined in `Migrations/schema.sql`.
///
/// It is compared with a file's schema at each opening. To make this cheap, the text is parsed once
/// per process, and the objects are compared in place, without a copy.
///
/// Gain: opening a queue takes 0.86 times as long (`alertq-bench open`, files in memory; against a
/// ``SchemaComparison`` each time).
struct Schema: Sendable {
    static let current = Schema(Migration.schema)

    private let text: [UInt8]
    private let entries: [Entry]

    /// The positions of an object's parts in the text.
    private struct Entry {
        let type: Range<Int>
        let name: Range<Int>
        let table: Range<Int>
        let sql: Range<Int>?

        func isSame(as row: borrowing Row, in text: UnsafeRawBufferPointer) -> Bool {
            typealias Column = SchemaObject.Column
            let isText = { (column: RawColumn, range: Range<Int>) in
                column.kind == .text
                    && column.holds(UnsafeRawBufferPointer(rebasing: text[range]))
            }
            guard isText(row.raw(Column.type), type), isText(row.raw(Column.name), name),
                isText(row.raw(Column.tblName), table)
            else { return false }
            // An object without a statement here is SQLite's own.
            guard let sql else { return true }
            return isText(row.raw(Column.sql), sql)
        }
    }

    /// Reads a text of sections that begin with `--- TYPE NAME of TABLE`, each with a statement or
    /// none.
    init(_ text: [UInt8]) {
        self.text = text
        entries = text.withUnsafeBytes { text in
            var starts = Self.offsets(of: "\n\n--- ", in: text)
            starts.append(text.count)
            return zip(starts, starts.dropFirst()).map { Self.entry(in: $0 + 6..<$1, of: text) }
        }
    }

    var objects: [SchemaObject] {
        let string = { (range: Range<Int>) in String(decoding: text[range], as: UTF8.self) }
        return entries.map { entry in
            SchemaObject(
                type: string(entry.type), name: string(entry.name), table: string(entry.table),
                sql: entry.sql.map(string))
        }
    }

    /// Whether a database has exactly these objects in this order, as every file has that was
    /// neither repaired nor added to.
    func matches(_ db: Database) throws -> Bool {
        try text.withUnsafeBytes { text in
            var (count, isSame) = (0, true)
            try db.visit(SchemaObject.query, []) { row in
                isSame = count < entries.count && entries[count].isSame(as: row, in: text)
                count += 1
                return isSame
            }
            return isSame && count == entries.count
        }
    }

    private static func entry(in section: Range<Int>, of text: UnsafeRawBufferPointer) -> Entry {
        var (words, start, end) = ([Range<Int>](), section.lowerBound, section.lowerBound)
        while end < section.upperBound, text[end] != UInt8(ascii: "\n") {
            if text[end] == UInt8(ascii: " ") {
                words.append(start..<end)
                start = end + 1
            }
            end += 1
        }
        // TYPE, NAME, "of" and TABLE; then the statement and a semicolon, and after the last one a
        // line feed.
        let last = text[section.upperBound - 1] == UInt8(ascii: "\n") ? 1 : 0
        let isAlone = end + 1 >= section.upperBound
        return Entry(
            type: words[0], name: words[1], table: start..<end,
            sql: isAlone ? nil : end + 1..<section.upperBound - 1 - last)
    }

    /// The offsets of the lines that name an object, including the empty line before each.
    private static func offsets(of mark: StaticString, in text: UnsafeRawBufferPointer) -> [Int] {
        var (found, from) = ([Int](), 0)
        let length = mark.utf8CodeUnitCount
        while let base = text.baseAddress,
            let newline = memchr(base + from, 10, text.count - from)
        {
            let start = UnsafeRawPointer(newline) - base
            from = start + 1
            guard start + length <= text.count else { break }
            if memcmp(base + start, mark.utf8Start, length) == 0 { found.append(start) }
        }
        return found
    }
}

extension SchemaObject {
    /// The objects of a schema version.
    ///
    /// For an earlier version the migrations up to it are run in memory, which takes some time.
    static func expected(at version: Int) throws -> [SchemaObject] {
        version == Migration.all.count
            ? Schema.current.objects : try all(in: Database.model(at: version))
    }
}

extension Database {
    /// An empty queue of a schema version, in memory.
    static func model(at version: Int) throws -> Database {
        let model = try Database(path: ":memory:", access: .create)
        model.setDefensive(false)
        for migration in Migration.all.prefix(version) { try model.execute(migration.sql) }
        return model
    }
}
