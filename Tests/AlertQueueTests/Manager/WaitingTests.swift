import AlertQueueTesting
import Foundation
import TestSupport
import Testing

@testable import AlertQueue

private enum Decision: AlertChoice {
    case yes
    case no
}

/// What those hear who wait for a response.
@Suite("Waiting", .timeLimit(.minutes(2)))
struct WaitingTests {
    let queue: TemporaryQueue
    let clock = ManualClock()

    init() throws { queue = try TemporaryQueue() }

    @Test("Whoever waits when the manager closes hears that it has been closed")
    func closing() async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = (0..<3).map { _ in
            Task { try await manager.ask(.yesNo(key: "one")) }
        }
        #expect(await eventually { await manager.watchers[1]?.count == 3 })
        await manager.close()
        for task in asking {
            let error = await #expect(throws: AlertError.self) { try await task.value }
            guard case .closed? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test("Whoever waits hears when another queue has taken the place of this one")
    func replaced() async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = Task { try await manager.ask(.yesNo()) }
        #expect(await eventually { await !manager.watchers.isEmpty })
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

    @Test("A response that an ask has returned is collected")
    func collected() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let id = try await manager.ask(.yesNo()).alertID
        #expect(
            try await eventually { try await manager.record(id).response?.collectedAt != nil })
        await manager.close()
    }

    @Test("A default button that is applied by policy is the choice of an enum")
    func policy() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let question = Alert(
            "Go on?", deadline: .after(.seconds(60)), defaultButton: Decision.no.id)
        async let asking = manager.ask(question, as: Decision.self)
        #expect(await eventually { await !manager.watchers.isEmpty })
        clock.advance(by: .seconds(60))
        #expect(try await asking == .no)
        await manager.close()
    }

    @Test("An answer between the asking and the wait for it is not missed")
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

    @Test("The earliest of several moments has the alarm, whichever came first")
    func earliestAlarm() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let now = clock.now()
        for seconds in [60, 30, 90, 45] {
            await manager.setAlarm(at: now.advanced(by: .seconds(seconds)))
        }
        #expect(await manager.alarm?.moment == now.advanced(by: .seconds(30)))
        await manager.close()
    }

    @Test("What is due next in a queue has the alarm of a manager that has just opened it")
    func storedAlarm() async throws {
        let store = try await queue.store(clock: clock)
        let end = clock.now().advanced(by: .seconds(60))
        try await store.ask(.yesNo("later", deadline: .after(.seconds(90))))
        try await store.ask(.yesNo(deadline: .after(.seconds(60))))
        await store.close()
        let manager = try await AlertManager(path: queue.path, clock: clock)
        #expect(await eventually { await manager.alarm?.moment == end })
        await manager.close()
    }
}
