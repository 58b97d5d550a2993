import Foundation
import Migrations
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("The schema of a queue in PostgreSQL", .inParallel, .needsServer)
struct ServerSchemaTests {
    private let db: Connection
    private let uri: String

    init() async throws {
        uri = try await PostgreSQLServer.shared.value.makeDatabase()
        try PostgreSQLSchema.setUp(try PostgreSQLLocation(uri))
        db = try Connection(uri)
    }

    @Test("The file of what keeps its promises is the one that the migration makes")
    func file() throws {
        // Every name in a statement has its schema.
        try db.execute("SET search_path = pg_catalog")
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let lines = try ServerSchema.found(in: db).map { object in
            let members = object.id + [object.state, object.statement]
            return String(decoding: try encoder.encode(members), as: UTF8.self) + "\n"
        }
        if getenv("ALERTQ_WRITE_SCHEMA") != nil {
            try lines.joined().write(
                toFile: "Migrations/PostgreSQL/schema.jsonl", atomically: true, encoding: .utf8)
        } else {
            #expect(
                lines.joined() == String(decoding: Migration.postgreSQLSchema, as: UTF8.self))
        }
    }

    /// What somebody has done, and what is said about it.
    static let changes = [
        ("ALTER TABLE alerts DISABLE TRIGGER alerts_are_final", "“alerts” is disabled"),
        ("ALTER TABLE audit DISABLE TRIGGER ALL", "“audit_is_append_only” of “audit” is disabled"),
        ("DROP TRIGGER alerts_stay ON alerts", "“alerts_stay” of “alerts” is missing"),
        ("DROP INDEX alerts_key", "the index “alerts_key” of “alerts” is missing"),
        (
            "ALTER TABLE audit DROP CONSTRAINT audit_queue_previous_key",
            "“audit_queue_previous_key” of “audit” is missing"
        ),
        ("ALTER TABLE alerts DROP CONSTRAINT alerts_check1", "“alerts_check1” of “alerts” is"),
        ("ALTER DOMAIN flag DROP CONSTRAINT flag_check", "“flag_check” of “flag” is missing"),
        (
            "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql "
                + "AS 'BEGIN RETURN NULL; END'", "the function “refuse_change” was changed"
        ),
        ("ALTER FUNCTION refuse_changed_alert RESET ALL", "“refuse_changed_alert” was changed"),
    ]

    @Test("What was switched off or dropped is named, with what puts it back", arguments: changes)
    func change(sql: String, problem: String) async throws {
        let administration = PostgreSQLAdministration(uri)
        #expect(try await administration.schema().allSatisfy { $0.trouble == nil })
        try db.execute(sql)
        let faults = try await administration.schema().filter { $0.trouble == .badData }
        #expect(faults.contains { $0.detail.contains(problem) }, "\(faults)")
        try db.execute("SET search_path = pg_catalog")
        for fault in faults {
            #expect(fault.advice?.hasSuffix("put it back with the statements below") == true)
            try db.execute(#require(fault.sql))
        }
        #expect(try await administration.schema().allSatisfy { $0.trouble == nil })
    }

    @Test("What somebody has added is named, with what removes it if it may change rows")
    func additions() async throws {
        let administration = PostgreSQLAdministration(uri)
        try db.execute(
            """
            CREATE FUNCTION public.other() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN RETURN NULL; END';
            CREATE TRIGGER other BEFORE INSERT ON alerts EXECUTE FUNCTION public.other();
            CREATE RULE other AS ON INSERT TO audit DO INSTEAD NOTHING;
            ALTER TABLE leases ENABLE ROW LEVEL SECURITY;
            CREATE INDEX other ON alerts (pid)
            """)
        let found = try await administration.schema()
        let faults = found.filter { $0.trouble == .badData }
        #expect(faults.count == 3 && found.filter(\.isNote).count == 1, "\(found)")
        for fault in faults {
            #expect(fault.advice?.hasSuffix("remove it with the statement below") == true)
            try db.execute(#require(fault.sql))
        }
        #expect(try await administration.schema().allSatisfy { $0.trouble == nil })
    }

    @Test("Who else may create something in the schema is named")
    func creators() throws {
        let administration = PostgreSQLAdministration(uri)
        #expect(try administration.serverReport().creators.isEmpty)
        try db.execute("GRANT CREATE ON SCHEMA alertq TO PUBLIC, pg_read_all_stats")
        #expect(try administration.serverReport().creators == ["PUBLIC", "pg_read_all_stats"])
    }
}
