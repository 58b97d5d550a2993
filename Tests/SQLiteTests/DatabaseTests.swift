import CSQLite
import Foundation
import TestSupport
import Testing

@testable import SQLite

@Suite("Database", .inParallel)
struct DatabaseTests {
    let db: Database

    init() throws {
        db = try Database(path: ":memory:")
        try db.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, value ANY) STRICT")
    }

    private func roundTrip<Result>(
        _ value: Value, read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        try db.run("INSERT INTO things (value) VALUES (?)", value)
        return try db.first(
            "SELECT value FROM things WHERE id = ?", .integer(db.lastInsertedID), read: read)
    }

    @Test(
        "A text is read back byte for byte",
        arguments: ["", "O'Brien; DROP TABLE things", "ünïcödé 🎉", "a\u{0}b", "line\nbreak"])
    func text(_ text: String) throws {
        let read = try roundTrip(.text(text)) { $0.optionalText() }
        #expect(read??.utf8.elementsEqual(text.utf8) == true)
    }

    @Test("Bytes are read back, and no bytes differ from NULL", arguments: [[], [0], [255, 0, 1]])
    func blob(_ bytes: [UInt8]) throws {
        #expect(try roundTrip(.blob(bytes)) { $0.blob() } == .some(.some(bytes)))
    }

    @Test("An integer keeps all its bits", arguments: [.min, -1, 0, 1, .max] as [Int64])
    func integer(_ integer: Int64) throws {
        #expect(try roundTrip(.integer(integer)) { $0.integer() } == integer)
    }

    @Test("NULL differs from the empty text, from no bytes and from zero")
    func null() throws {
        let isNull = try roundTrip(.null) { row in
            row.isNull() && row.optionalText() == nil && row.blob() == nil
                && row.optionalInteger() == nil
        }
        #expect(isNull == true)
    }

    @Test("A reused statement forgets its earlier bound values")
    func boundAgain() throws {
        let sql = "INSERT INTO things (value) VALUES (?)"
        try db.run(sql, "secret")
        try db.run(sql, .null)
        let values = try db.rows("SELECT value FROM things ORDER BY id") { $0.optionalText() }
        #expect(values == ["secret", nil])
    }

    @Test("A reused statement binds values of any length unchanged")
    func anyLength() throws {
        try db.execute("CREATE TABLE rows (a ANY, b ANY, c ANY, d ANY, e ANY, f ANY) STRICT")
        for count in [0, 1, 400, 200_000, 1] {
            let texts = ["x", "y", "z"].map { String(repeating: $0, count: count) }
            let bytes = [UInt8](repeating: 7, count: count)
            try db.run(
                "INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)",
                texts.map { .text($0) } + [.blob(bytes), .integer(count), .null])
            let read = try db.first(
                "SELECT a, b, c, d, e, f FROM rows WHERE rowid = ?", .integer(db.lastInsertedID)
            ) { row in
                let isAsBound = (0..<3).map { row.optionalText(at: $0) } == texts
                return isAsBound && row.blob(at: 3) == bytes && row.integer(at: 4) == count
                    && row.isNull(at: 5)
            }
            #expect(read == true, "\(count) bytes each")
        }
    }

    @Test("A statement with a value too few or too many ends the process", arguments: [0, 2])
    func wrongCount(_ count: Int) async {
        await #expect(processExitsWith: .failure) { [count] in
            let db = try Database(path: ":memory:")
            try db.run("SELECT ?", (0..<count).map { .integer($0) })
        }
    }

    @Test("The error of a value that is too long is the reason")
    func tooLong() throws {
        sqlite3_limit(db.connection, SQLITE_LIMIT_LENGTH, 1000)
        let error = try #require(throws: SQLiteError.self) {
            try db.run("SELECT ?, ?", .text(String(repeating: "x", count: 5000)), 1)
        }
        #expect(error.primaryCode == SQLITE_TOOBIG && error.message.contains("too big"), "\(error)")
    }

    @Test("A full file and a held lock are distinguished from other errors")
    func kinds() throws {
        try db.execute("PRAGMA max_page_count = 4")
        let full = try #require(throws: SQLiteError.self) {
            try db.run("INSERT INTO things (value) VALUES (zeroblob(1 << 20))")
        }
        #expect(full.isFull && !full.isBusy && !full.isIOError)
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (one, other) = (
            try Database(path: path, access: .create), try Database(path: path)
        )
        try one.execute("BEGIN IMMEDIATE")
        let busy = try #require(throws: SQLiteError.self) { try other.execute("BEGIN IMMEDIATE") }
        #expect(busy.isBusy && !busy.isFull)
    }

    @Test("SQL can't change the schema table unless defensive mode is off")
    func defensive() throws {
        let script = """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'things', 'stuff') WHERE name = 'none'
            """
        #expect(throws: SQLiteError.self) { try db.execute(script) }
        db.setDefensive(false)
        try db.execute(script)
    }

    @Test("An error names the statement and never a bound value")
    func error() throws {
        try db.run("INSERT INTO things (id, value) VALUES (?, ?)", 1, "secret")
        let error = try #require(throws: SQLiteError.self) {
            try db.run("INSERT INTO things (id, value) VALUES (?, ?)", 1, "secret")
        }
        #expect(error.isConstraint)
        #expect(error.operation.contains("INSERT INTO things"))
        #expect(!"\(error) \(error.operation)".contains("secret"))
    }

    @Test("A statement that failed can be used again")
    func reuse() throws {
        let sql = "INSERT INTO things (id, value) VALUES (?, ?)"
        try db.run(sql, 1, "one")
        #expect(throws: SQLiteError.self) { try db.run(sql, 1, "again") }
        try db.run(sql, 2, "two")
        #expect(
            try db.rows("SELECT value FROM things ORDER BY id") { $0.text() } == ["one", "two"])
    }

    @Test("A body that throws ends its statement and its read transaction")
    func throwingBody() throws {
        struct Stop: Error {}
        try db.run("INSERT INTO things (value) VALUES (?)", 1)
        #expect(throws: Stop.self) {
            try db.reading { try db.forEach("SELECT value FROM things", []) { _ in throw Stop() } }
        }
        #expect(!db.isInTransaction)
        try db.execute("DROP TABLE things")
    }

    @Test("Opening a file that does not exist fails unless it may be created")
    func missing() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "sqlite-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: SQLiteError.self) { try Database(path: path) }
        _ = try Database(path: path, access: .create)
    }
}
