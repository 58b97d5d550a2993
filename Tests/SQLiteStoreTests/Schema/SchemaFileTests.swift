import AlertCore
import Foundation
import Migrations
import SQLite
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Schema file", .inParallel)
struct SchemaFileTests {
    private static let path = URL(filePath: #filePath)
        .appending(path: "../../../../Migrations/schema.sql").standardizedFileURL.path

    private static let head = """
        -- The schema that the migrations make together.
        --
        -- A file that has another one is not used. A section names each object: its type, its
        -- name, and the table that it belongs to; the statement is left out where SQLite makes the
        -- object by itself. This file is not run. A test writes it anew:
        -- ALERTQ_WRITE_SCHEMA=1 swift test --filter SchemaFileTests

        """

    @Test("It is what the migrations make; ALERTQ_WRITE_SCHEMA=1 writes it anew")
    func derived() throws {
        let made = try SchemaObject.all(in: .model(at: Migration.all.count))
        let sections = made.map { object in
            let statement = object.sql.map { $0 + ";\n" } ?? ""
            return "\n--- \(object.type) \(object.name) of \(object.table)\n" + statement
        }
        let text = Self.head + sections.joined()
        if ProcessInfo.processInfo.environment["ALERTQ_WRITE_SCHEMA"] != nil {
            try Data(text.utf8).write(to: URL(filePath: Self.path))
        }
        #expect(try String(contentsOfFile: Self.path, encoding: .utf8) == text)
        #expect(Schema.current.objects == made && made.count > 30)
    }

    @Test("It is told from a schema that differs in one object, or has one more or one less")
    func compared() throws {
        let version = Migration.all.count
        #expect(try Schema.current.matches(.model(at: version)))
        for sql in [
            "DROP TRIGGER responses_stay", "DROP INDEX audit_erased", "CREATE TABLE other (id)",
            "DROP VIEW history; CREATE VIEW history AS SELECT 1",
        ] {
            let other = try Database.model(at: version)
            try other.execute(sql)
            #expect(try !Schema.current.matches(other), "\(sql)")
        }
        #expect(try !Schema.current.matches(.model(at: version - 1)))
        #expect(try !Schema.current.matches(.model(at: 0)))
    }
}
