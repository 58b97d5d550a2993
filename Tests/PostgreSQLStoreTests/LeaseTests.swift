import AlertTables
import Glibc
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Leases of a queue in PostgreSQL", .inParallel, .needsServer)
struct LeaseTests {
    /// What lies between the clock by which a lease was renewed last and the server's clock now,
    /// in milliseconds; and whether its time is over.
    static let steps = [(-30_000, true), (-11_000, true), (-500, false), (30_000, true)]

    @Test(
        "A lease of a process that has died ends in time when the clock is set",
        arguments: steps)
    func deadLease(step: Int, isOver: Bool) async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let id = try await store.ask(.yesNo()).id
        try await insert(
            "leases (queue, alert_id, purpose, epoch, seen_ms)",
            "\(id), 'handling', 1", step, in: queue)
        #expect((try await store.lease(id) != nil) == isOver)
        try await insert(
            "leases (queue, alert_id, purpose, epoch, seen_ms)",
            "\(id), 'waiting', 2", step, in: queue)
        let isAwaited = try await store.read("look for askers") { tables in
            try tables.hasRow(tables.query.waitingLeases([id]))
        }
        #expect(isAwaited == !isOver)
        await store.close()
    }

    @Test("Renewing removes what vanished processes have left, and waits for no other one")
    func leftovers() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let lease = try #require(try await store.lease(7, for: .waiting))
        let columns = "leases (queue, alert_id, purpose, epoch, seen_ms)"
        try await insert(columns, "8, 'waiting', 2", 30_000, in: queue)
        try await insert(columns, "9, 'handling', 3", 90_000_000, in: queue)
        try await insert(columns, "10, 'handling', 4", 30_000, in: queue)
        let left = """
            SELECT string_agg(alert_id::text, ' ' ORDER BY alert_id) FROM leases
            WHERE queue = (SELECT id FROM queues WHERE name = $1)
            """
        let db = try queue.connect()
        // One that is being renewed right now is not gone.
        try db.execute("BEGIN; SELECT 1 FROM leases WHERE epoch = 2 FOR UPDATE")
        await store.leases.renew()
        #expect(try queue.connect().first(left, .text(queue.name)) { $0.text() } == "7 8 10")
        try db.execute("COMMIT")
        await store.leases.renew()
        #expect(try db.first(left, .text(queue.name)) { $0.text() } == "7 10")
        lease.end()
        await store.close()
    }

    @Test(
        "A screen that has died gives up the lead in time when the clock is set",
        arguments: steps)
    func deadLeader(step: Int, isOver: Bool) async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let lease = try await store.attach(Self.screen)
        // After that, nothing deletes it.
        try await insert(
            "screens (queue, screen, leads, epoch, seen_ms)",
            "'{}', 1, 1", step, in: queue)
        let state = await lease.announce(Self.screen, wantsLead: true)
        #expect(state.isLeading == isOver, "\(state)")
        lease.release()
        await store.close()
    }

    private static let screen = AttachedScreen(
        caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)

    /// Inserts a row whose last sign of life was given before the clock was set.
    private func insert(
        _ columns: String, _ values: String, _ step: Int, in queue: PostgreSQLQueue
    ) async throws {
        try queue.connect().run(
            """
            INSERT INTO \(columns) SELECT id, \(values), \(Lease.clock) - $2 FROM queues
            WHERE name = $1
            """, .text(queue.name), .integer(Int64(step)))
    }

    @Test("A screen that lives stays attached when the clock is set", arguments: [-30, 30])
    func livingScreen(seconds: Int) async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let lease = try await store.attach(Self.screen)
        let epoch = lease.epoch
        try await set(seconds, in: queue)
        // Its next sign of life.
        #expect(
            await eventually { await store.screens().followers.count == 1 })
        #expect(await lease.state(after: .lost) == .following(ScreenRoster()))
        #expect(lease.epoch == epoch)
        lease.release()
        await store.close()
    }

    /// Sets the clock forward, as far as screens can tell.
    private func set(_ seconds: Int, in queue: PostgreSQLQueue) async throws {
        try queue.connect().run(
            """
            UPDATE screens SET seen_ms = seen_ms - $2 * 1000
            WHERE queue = (SELECT id FROM queues WHERE name = $1)
            """, .text(queue.name), .integer(Int64(seconds)))
    }

    @Test("A screen that was lost is told so once, and attached again with another epoch")
    func attachedAgain() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let id = try await store.ask(.yesNo()).id
        let lease = try await store.attach(Self.screen)
        let epoch = lease.epoch
        let following = LeaseState.following(ScreenRoster())
        #expect(await lease.state(after: .lost) == following)
        try queue.connect().run(
            "DELETE FROM screens WHERE queue = (SELECT id FROM queues WHERE name = $1)",
            .text(queue.name))
        var seen = following
        while seen == following { seen = await lease.state(after: seen) }
        #expect(seen == .lost)
        while seen == .lost { seen = await lease.state(after: seen) }
        #expect(seen == following && lease.epoch != epoch)
        #expect(await lease.announce(Self.screen, wantsLead: true).isLeading)
        let answer = Change.resolve(id, .choose(button: 0))
        let refused = await thrown {
            try await store.commit([answer], request: nil, by: .ana, under: epoch)
        }
        #expect(refused?.kind == "detached")
        let stored = try await store.commit(
            [answer], request: nil, by: .ana, under: lease.epoch)
        #expect(throws: Never.self) { try stored[0].get() }
        lease.release()
        #expect(await eventually { await store.screens() == ScreenRoster() })
        await store.close()
    }

    @Test("A screen goes on after its server was away for longer than its lease")
    func longAbsence() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let store = try await queue.open()
        let lease = try await store.attach(Self.screen)
        let epoch = lease.epoch
        try await queue.servers[0].stop(SIGKILL)
        #expect(await eventually { lease.epoch != epoch })
        #expect(await lease.state(after: .following(ScreenRoster())) == .lost)
        try await queue.servers[0].start()
        #expect(await eventually { await lease.state(after: .lost) != .lost })
        #expect(await lease.announce(Self.screen, wantsLead: true).isLeading)
        lease.release()
        await store.close()
    }
}
