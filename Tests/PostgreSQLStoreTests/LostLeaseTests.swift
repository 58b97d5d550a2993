import Dispatch
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Lost leases on alerts in PostgreSQL", .inParallel, .needsServer)
struct LostLeaseTests {
    /// Takes the leases of a queue away, as another process does once their time is over.
    private func takeLeases(of queue: PostgreSQLQueue) throws {
        try queue.connect().run(
            "DELETE FROM leases WHERE queue = (SELECT id FROM queues WHERE name = $1)",
            .text(queue.name))
    }

    @Test("Whoever lost a lease is told so, and can store nothing under it")
    func told() async throws {
        let queue = try await PostgreSQLQueue()
        let (store, other) = (
            try await queue.open(SystemClock()), try await queue.open(SystemClock())
        )
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        let lease = try #require(try await store.lease(id))
        let loss = Recorder()
        lease.whenLost { loss.note("lost") }
        #expect(try await other.lease(id) == nil)
        try takeLeases(of: queue)
        let next = try #require(try await other.lease(id))
        #expect(await eventually { loss.lines == ["lost"] })
        await #expect(throws: AlertError.detached) {
            try await store.collect(id, by: .ana, under: lease.epoch)
        }
        #expect(try await other.collect(id, by: .ana, under: next.epoch))
        // What it ends is not the other's.
        lease.end()
        next.end()
        for store in [store, other] { await store.close() }
    }

    @Test("A lease that ends while a renewal waits for its turn does not come back")
    func endedWhileRenewed() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let id = try await store.ask(.yesNo()).id
        let lease = try #require(try await store.lease(id, for: .waiting))
        let gate = DispatchSemaphore(value: 0)
        let held = Task.immediate {
            try await store.leases.run("wait") { _ in gate.wait() }
        }
        // It waits for its turn meanwhile.
        let renewal = Task.immediate { await store.leases.renew() }
        lease.end()
        gate.signal()
        try await held.value
        await renewal.value
        #expect(try await eventually { try count(of: id, in: queue) == 0 })
        // It does not come back.
        try await store.leases.run("look") { _ in }
        #expect(try count(of: id, in: queue) == 0)
        await store.close()
    }

    /// How many leases on an alert there are.
    private func count(of id: Alert.ID, in queue: PostgreSQLQueue) throws -> Int64? {
        try queue.connect().first(
            """
            SELECT count(*) FROM leases WHERE alert_id = $1
                AND queue = (SELECT id FROM queues WHERE name = $2)
            """, .integer(id), .text(queue.name)
        ) { $0.integer() }
    }

    @Test("A call that waits is seen to wait again after its lease was lost")
    func waiting() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let id = try await store.ask(.yesNo()).id
        let lease = try #require(try await store.lease(id, for: .waiting))
        try takeLeases(of: queue)
        #expect(try await eventually { try count(of: id, in: queue) == 1 })
        lease.end()
        await store.close()
    }

    @Test("A handler whose turn is lost is cancelled, and runs again where the turn is")
    func handler() async throws {
        let queue = try await PostgreSQLQueue()
        let managers = [try await manager(of: queue), try await manager(of: queue)]
        let (started, ended) = (Recorder(), Recorder())
        var alert = Alert.yesNo()
        alert.handler = "apply"
        let id = try await managers[0].submit(alert).record.id
        _ = try await managers[0].answer(id, buttonAt: 0)
        try await managers[0].register(handler: "apply") { _ in
            started.note("first")
            do { try await Task.sleep(for: .seconds(600)) } catch { ended.note("cancelled") }
            // It goes on for a while nevertheless, and its end does not count.
            throw CancellationError()
        }
        #expect(await eventually { started.lines == ["first"] })
        try takeLeases(of: queue)
        try await managers[1].register(handler: "apply") { _ in started.note("second") }
        #expect(
            await eventually {
                ended.lines == ["cancelled"] && started.lines.contains("second")
            })
        #expect(
            try await eventually {
                try await managers[1].record(id).response?.collectedAt != nil
            })
        for manager in managers { await manager.close() }
        #expect(started.lines == ["first", "second"])
    }

    @Test("The closures of an alert are cancelled if the turn of its response is lost")
    func closures() async throws {
        let queue = try await PostgreSQLQueue()
        let manager = try await manager(of: queue)
        let (started, ended) = (Recorder(), Recorder())
        let id = try await manager.show(.yesNo()) { _ in
            started.note("started")
            do { try await Task.sleep(for: .seconds(600)) } catch { ended.note("cancelled") }
            throw CancellationError()
        }
        _ = try await manager.answer(id, buttonAt: 0)
        #expect(await eventually { started.lines == ["started"] })
        try takeLeases(of: queue)
        #expect(await eventually { ended.lines == ["cancelled"] })
        #expect(try await manager.record(id).response?.collectedAt == nil)
        await manager.close()
    }

    @Test("A hook whose turn is lost is cancelled, and the response left to others")
    func hook() async throws {
        let queue = try await PostgreSQLQueue()
        let manager = try await manager(of: queue)
        let id = try await manager.submit(.yesNo()).record.id
        _ = try await manager.answer(id, buttonAt: 0)
        let ended = Recorder()
        let end = await manager.process(id, of: nil) { _, _ in
            do { try takeLeases(of: queue) } catch { ended.note("\(error)") }
            do { try await Task.sleep(for: .seconds(600)) } catch { ended.note("cancelled") }
            throw CancellationError()
        }
        guard case .held = end else { return #expect(Bool(false), "\(end)") }
        #expect(ended.lines == ["cancelled"])
        #expect(try await manager.record(id).response?.collectedAt == nil)
        await manager.close()
    }

    private func manager(of queue: PostgreSQLQueue) async throws -> AlertManager {
        try await AlertManager(
            store: try await queue.open(SystemClock()), path: "here", source: "test",
            caller: Caller(via: "test"), presenters: [], delegate: nil, clock: SystemClock())
    }
}
