import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Versions of the schema in PostgreSQL", .inParallel, .needsServer)
struct SchemaVersionTests {
    private let db: Connection
    private let location: PostgreSQLLocation

    init() async throws {
        let server = try await PostgreSQLServer.shared.value
        let uri = try server.makeDatabase()
        db = try Connection(uri)
        location = try PostgreSQLLocation(uri)
        try PostgreSQLSchema.setUp(location)
    }

    private func open() async throws(AlertError) -> PostgreSQLAlertStore {
        try await PostgreSQLAlertStore.open(location, checksDurability: false)
    }

    @Test("A schema that a newer version has only added to can be used, and set up again")
    func expanded() async throws {
        try db.run(
            "INSERT INTO schema_versions (version, minimum) VALUES ($1, $2)",
            .integer(PostgreSQLSchema.version + 1), .integer(PostgreSQLSchema.version))
        try db.execute("ALTER TABLE alerts ADD COLUMN severity integer")
        try PostgreSQLSchema.setUp(location)
        let store = try await open()
        try await store.ask(.yesNo())
        try await store.answer(1, 0)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("A schema that needs a newer version is refused, and not set up")
    func newer() async throws {
        let version = Value.integer(PostgreSQLSchema.version + 1)
        try db.run(
            "INSERT INTO schema_versions (version, minimum) VALUES ($1, $1)", version)
        let refusals = [
            await thrown { try await open() },
            await thrown { try PostgreSQLSchema.setUp(location) },
        ]
        for error in refusals {
            #expect(error?.kind == "incompatible")
            #expect("\(error as Any)".contains("a newer alertq"), "\(error as Any)")
        }
    }

    @Test("Tables of an earlier form are refused, and left as they are")
    func earlier() async throws {
        try db.execute("UPDATE schema_versions SET version = 1, minimum = 1")
        let refusals = [
            await thrown { try await open() },
            await thrown { try PostgreSQLSchema.setUp(location) },
        ]
        for error in refusals {
            #expect(error?.kind == "incompatible")
            #expect("\(error as Any)".contains("made by an earlier alertq"), "\(error as Any)")
        }
        #expect(try db.first("SELECT count(*) FROM queues") { $0.integer() } == 1)
    }

    @Test("An older schema is refused, with how to upgrade it")
    func older() async throws {
        try db.execute("UPDATE schema_versions SET version = 0, minimum = 0")
        let error = await thrown { try await open() }
        #expect(error?.kind == "incompatible")
        #expect("\(error as Any)".contains("--setup-postgresql"), "\(error as Any)")
    }
}
