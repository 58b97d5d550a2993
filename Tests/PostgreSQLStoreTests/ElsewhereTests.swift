import Glibc
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

/// An id names one question for ever, also where what came after a copy was made is not known.
@Suite("Queues that go on elsewhere in PostgreSQL", .inParallel, .needsServer)
struct ElsewhereTests {
    private func open(_ uri: String) async throws(AlertError) -> PostgreSQLAlertStore {
        try await PostgreSQLAlertStore.open(
            PostgreSQLLocation(uri), caller: .keeper, checksDurability: false)
    }

    /// What the entries say that tell that the queue goes on elsewhere.
    private func moves(_ store: PostgreSQLAlertStore) async throws -> [RestoredQueue.Replaced] {
        try await store.entries(LogQuery(.after(.start), limit: 100)).compactMap(
            \.restored?.replaced)
    }

    @Test("Ids jump once in a copy of the database, as after a restore")
    func copy() async throws {
        let server = try await PostgreSQLServer()
        try PostgreSQLSchema.setUp(try PostgreSQLLocation(server.uri))
        let first = try await open(server.uri)
        #expect(try await first.ask(.yesNo()).id == 1)
        await first.close()
        let copied = try server.makeDatabase(from: "postgres")
        let again = try await open(server.uri)
        #expect(try await again.ask(.yesNo()).id == 2)
        #expect(try await moves(again) == [])
        await again.close()

        let store = try await open(copied)
        let id = try await store.ask(.yesNo()).id
        #expect(id == 1 + RestoredQueue.jump + 1)
        #expect(try await store.ask(.yesNo()).id == id + 1)
        #expect(try await moves(store) == [.server])
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("Ids go on at the next million after a failover, and with restored tables")
    func failover() async throws {
        let queue = try await OwnServers.pair()
        let store = try await queue.open()
        #expect(try await store.ask(.yesNo()).id == 1)
        try await queue.servers[0].stop(SIGKILL)
        try queue.servers[1].promote()
        try queue.servers[1].execute("ALTER SYSTEM SET synchronous_standby_names = ''")
        try queue.servers[1].execute("SELECT pg_reload_conf()")
        let id = try await eventuallyAsked(store)
        #expect(id == 1_000_000)
        #expect(try await store.ask(.yesNo()).id == id + 1)
        #expect(try await moves(store) == [.timeline])
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    private func eventuallyAsked(_ store: PostgreSQLAlertStore) async throws -> Alert.ID {
        var id: Alert.ID?
        _ = await eventually {
            id = try? await store.ask(.yesNo()).id
            return id != nil
        }
        return try #require(id)
    }

    @Test("A copy is told from its original behind a pooler, too", .needsPooler)
    func pooled() async throws {
        let queue = try await PostgreSQLQueue(isPooled: true)
        let store = try await queue.open(SystemClock())
        #expect(try await store.ask(.yesNo()).id == 1)
        try queue.connect().run(
            """
            UPDATE heads SET cluster = '1 2 3'
            WHERE queue = (SELECT id FROM queues WHERE name = $1)
            """, .text(queue.name))
        #expect(try await store.ask(.yesNo()).id == RestoredQueue.jump + 2)
        await store.close()
    }

    @Test("A queue and its sources get numbers that no other has, from the rows alone")
    func numbers() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        try await store.ask(.yesNo())
        await store.close()
        let count = try queue.connect().first(
            """
            SELECT count(*) FROM sources JOIN queues ON queues.id = queue
            WHERE queues.name = $1 AND sources.id >> 32 <> queue
            """, .text(queue.name)
        ) { $0.integer() }
        #expect(count == 0)
        let sequences = try queue.connect().first(
            """
            SELECT count(*) FROM pg_class
            WHERE relkind = 'S' AND relnamespace = 'alertq'::regnamespace
            """
        ) { $0.integer() }
        #expect(sequences == 0)
    }
}
