import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Reads that take long", .inParallel, .needsServer)
struct LongReadTests {
    @Test("A long read takes its time, while another one is told that the server is slow")
    func patience() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await PostgreSQLAlertStore.open(
            queue.location, busyTime: .milliseconds(10), checksDurability: false)
        // One that is not long has a second at least.
        let sleep = { @Sendable (tables: ServerTables) throws in
            _ = try tables.db.run("SELECT pg_sleep(1.5)")
        }
        #expect(await thrown { try await store.read("sleep", sleep) }?.kind == "unreachable")
        try await store.readAside("sleep", sleep)
        await store.close()
    }

    /// Whether the task is cancelled, or the store closed.
    @Test("A long read ends with its task, and with its store", arguments: [true, false])
    func ends(isCancelled: Bool) async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let read = Task {
            await thrown {
                try await store.readAside("sleep") { tables in
                    _ = try tables.db.run(
                        "SELECT pg_sleep(600) /* \(queue.name) */")
                }
            }
        }
        let db = try queue.connect()
        let sleeps = """
            SELECT count(*) FROM pg_stat_activity
            WHERE query LIKE '%pg_sleep%' || $1 || '%' AND pid <> pg_backend_pid()
            """
        let count = { try db.first(sleeps, .text(queue.name)) { $0.integer() } }
        #expect(try await eventually { try count() == 1 })
        if isCancelled { read.cancel() } else { await store.close() }
        #expect(await read.value?.kind == (isCancelled ? "cancelled" : "closed"))
        // The server ends it, too.
        #expect(try await eventually { try count() == 0 })
        await store.close()
    }

    @Test("The progress of a verification reaches its end")
    func progress() async throws {
        let forged = try await ForgedQueue()
        let last = Recorder()
        let report = try await forged.store.verify(expecting: nil) { done, total in
            last.note("\(done) of \(total)")
        }
        let total = try #require(report.head?.sequence)
        #expect(last.lines.last == "\(total) of \(total)")
        await forged.store.close()
    }
}
