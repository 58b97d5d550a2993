import AlertQueue
import AlertQueueTesting
import Foundation
import SQLiteStore
import StoreChecks
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

private enum Decision: AlertChoice {
    case yes
    case no
}

/// What callers that wait for a response get.
@Suite("Waiting", .inParallel, .within(.seconds(120)))
struct WaitingTests {
    let queue: TemporaryQueue
    let clock = ManualClock()

    init() throws { queue = try TemporaryQueue() }

    @Test("Closing the manager makes waiting callers throw closed")
    func closing() async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = (0..<3).map { _ in
            Task { try await manager.ask(.yesNo(key: "one")) }
        }
        #expect(await eventually { manager.waiters.count(for: 1) == 3 })
        await manager.close()
        for task in asking {
            let error = await #expect(throws: AlertError.self) { try await task.value }
            guard case .closed? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test("A waiting caller throws incompatible when another queue replaces this one")
    func replaced() async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = Task { try await manager.ask(.yesNo()) }
        #expect(await eventually { !manager.waiters.isEmpty })
        let other = try TemporaryQueue()
        let store = try await other.store()
        try await store.ask(.yesNo("Another's"))
        await store.close()
        for ending in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: queue.path + ending)
        }
        try FileManager.default.copyItem(atPath: other.path, toPath: queue.path)
        let error = await #expect(throws: AlertError.self) { try await asking.value }
        #expect(error?.kind == "incompatible")
        await manager.close()
    }

    @Test("A response is collected once ask has returned it")
    func collected() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let id = try await manager.ask(.yesNo()).alertID
        #expect(
            try await eventually { try await manager.record(id).response?.collectedAt != nil })
        await manager.close()
    }

    @Test("Asking with an enum returns the default button that is applied by policy")
    func policy() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let question = Alert(
            "Go on?", deadline: .after(.seconds(60)), defaultButton: Decision.no.id)
        async let asking = manager.ask(question, as: Decision.self)
        #expect(await eventually { !manager.waiters.isEmpty })
        clock.advance(by: .seconds(60))
        #expect(try await asking == .no)
        await manager.close()
    }

    @Test("An answer between asking and waiting is not missed")
    func answeredBetween() async throws {
        let manager = try await AlertManager(path: queue.path)
        for round in 0..<300 {
            let key = "\(round)"
            let id = try await manager.show(.yesNo(key: key))
            async let asking = manager.ask(.yesNo(key: key))
            async let again = manager.ask(.yesNo(key: key))
            async let answered = manager.answer(id, button: "Yes")
            let responses = try await [asking, again, #require(answered.response)]
            #expect(responses.map(\.alertID) == [id, id, id])
        }
        await manager.close()
    }

    @Test("An alarm rings at the earliest of several moments, set in any order")
    func earliestAlarm() async throws {
        let alarm = Alarm(clock: clock)
        let rings = Mutex(0)
        let now = clock.now()
        for seconds in [60, 30, 90, 45] {
            alarm.set(at: now.advanced(by: .seconds(seconds))) {
                rings.withLock { $0 += seconds }
            }
        }
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .seconds(30))
        #expect(await eventually { rings.withLock { $0 } == 30 })
        #expect(clock.sleeperCount == 0)
    }

    @Test("A store that has just opened a queue stores the next expiry in time")
    func storedAlarm() async throws {
        let store = try await queue.store(clock: clock)
        try await store.ask(.yesNo("later", deadline: .after(.seconds(90))))
        try await store.ask(.yesNo(deadline: .after(.seconds(60))))
        await store.close()
        let keeper = try await SQLiteAlertStore.open(
            path: queue.path, clock: clock, appliesDeadlines: true)
        #expect(await eventually { clock.sleeperCount == 1 })
        clock.advance(by: .seconds(60))
        #expect(
            try await eventually {
                try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 1
            })
        await keeper.close()
    }
}
