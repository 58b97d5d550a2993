import AlertQueue
import AlertQueueTesting
import Foundation
import SQLiteStore
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Askers that wait, as others see them", .inParallel, .within(.seconds(120)))
struct WaitingAskerTests {
    let queue: TemporaryQueue
    let clock = ManualClock()

    init() throws { queue = try TemporaryQueue() }

    private func manager() async throws -> AlertManager {
        try await AlertManager(path: queue.path, source: "test", clock: clock)
    }

    private func wait(for id: Alert.ID, in manager: AlertManager) async {
        #expect(await eventually { manager.waiters.count(for: id) > 0 })
    }

    @Test("An alert is orphaned when the call that asked it and waits has ended, and not before")
    func leased() async throws {
        let (manager, other) = (try await manager(), try await manager())
        let asking = Task { try await manager.ask(.yesNo(key: "k")) }
        await wait(for: 1, in: manager)
        clock.advance(by: .seconds(10))
        #expect(try await eventually { try await !other.record(1).isOrphaned })
        #expect(try await !manager.record(1).isOrphaned)
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(try await eventually { try await other.record(1).isOrphaned })
        #expect(try await manager.record(1).isOrphaned)
        let orphan = try await manager.record(1)
        let json = try JSONEncoder().encode(orphan)
        #expect(try JSONDecoder().decode(AlertRecord.self, from: json) == orphan)

        let waiting = Task { try await other.resolution(of: 1) }
        await wait(for: 1, in: other)
        #expect(try await eventually { try await !manager.record(1).isOrphaned })
        try await manager.answer(1, buttonAt: 0)
        #expect(try await waiting.value.response != nil)
        #expect(try await !manager.record(1).isOrphaned)
        await manager.close()
        await other.close()
    }

    @Test("An alert that was shown without waiting is never orphaned, whoever has waited for it")
    func shown() async throws {
        let manager = try await manager()
        let ids = [
            try await manager.show(.yesNo(key: "k")), try await manager.submit(.yesNo()).record.id,
        ]
        let asking = Task { try await manager.ask(.yesNo(key: "k")) }
        await wait(for: ids[0], in: manager)
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        let handled = Task {
            try await manager.ask(
                Alert("Q?", buttons: ["Yes"], key: "h", handler: "handler"))
        }
        await wait(for: 3, in: manager)
        handled.cancel()
        await #expect(throws: CancellationError.self) { try await handled.value }
        clock.advance(by: .seconds(60))
        for id in ids + [3] { #expect(try await !manager.record(id).isOrphaned) }
        await manager.close()
    }

    @Test("A closed manager's questions with a key are orphaned")
    func closed() async throws {
        let (manager, other) = (try await manager(), try await manager())
        let asking = Task { try await manager.ask(.yesNo(key: "k")) }
        await wait(for: 1, in: manager)
        clock.advance(by: .seconds(10))
        await manager.close()
        await #expect(throws: AlertError.self) { try await asking.value }
        #expect(try await other.record(1).isOrphaned)
        let waiting = Task { try await other.resolution(of: 1) }
        await wait(for: 1, in: other)
        let kept = try await other.withdraw([1], .own(.program), onlyIfOrphaned: true)
        #expect(try kept.map { try $0.get().response } == [nil])
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await eventually { try await other.record(1).isOrphaned })
        let withdrawn = try await other.withdraw([1], .own(.program), because: "nobody waits")
        #expect(try withdrawn.map { try $0.get().response?.outcome } == [.withdrawn])
        #expect(try await other.audit(of: 1).last?.note == "nobody waits")
        await other.close()
    }
}
