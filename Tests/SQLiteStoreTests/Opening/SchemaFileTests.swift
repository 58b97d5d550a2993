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
        .appending(path: "../../../../Migrations/SQLite/schema.sql").standardizedFileURL.path

    private static let head =
        """
        -- The schema that the migrations make together.
        --
        -- A file that has another one is not used. A section names each object: its type, its
        -- name, and the table that it belongs to; the statement is left out where SQLite makes the
        -- object by itself. This file is not run. A test writes it anew:
        -- ALERTQ_WRITE_SCHEMA=1 swift test --filter SchemaFileTests
        --
        -- Queues have been made with these migrations, so that none is ever edited once released:

        """
        + Migration.all.map { migration in
            let digest = Hex.text(SHA256.hash(of: Array(migration.sql.utf8)))
            return "-- \(migration.version) \(migration.name), SHA-256 \(digest)\n"
        }.joined()

    @Test("The file is what the migrations create; ALERTQ_WRITE_SCHEMA=1 rewrites it")
    func derived() throws {
        let list = try Database.model().first(Schema.list) { $0.text() }
        let text = Self.head + (list ?? "")
        if ProcessInfo.processInfo.environment["ALERTQ_WRITE_SCHEMA"] != nil {
            try Data(text.utf8).write(to: URL(filePath: Self.path))
        }
        #expect(try String(contentsOfFile: Self.path, encoding: .utf8) == text)
        #expect(try Schema.expected.get().count > 30)
    }

    @Test("A schema that differs in one object, or has one more or one less, does not match")
    func compared() throws {
        #expect(try Schema.matches(.model()))
        for sql in [
            "DROP TRIGGER alerts_stay", "DROP INDEX audit_alert", "CREATE TABLE other (id)",
            "DROP VIEW history; CREATE VIEW history AS SELECT 1",
        ] {
            let other = try Database.model()
            try other.execute(sql)
            #expect(try !Schema.matches(other), "\(sql)")
        }
        #expect(try !Schema.matches(.model(of: [])))
    }
}
