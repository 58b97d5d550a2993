import AlertQueue
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import SQLiteStore

/// More alerts, responses and events than a manager handles in one go.
@Suite("Many at once", .inParallel, .within(.seconds(120)))
struct ManyAtOnceTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    @Test("Every caller that waits for an alert gets its response, not just the first")
    func waiters() async throws {
        let manager = try await AlertManager(path: queue.path)
        let other = try await AlertManager(path: queue.path)
        let id = try await manager.show(.yesNo(key: "one"))
        let asking = (0..<5).map { _ in
            Task { try await manager.ask(.yesNo(key: "one")).alertID }
        }
        let waiting = (0..<5).map { _ in Task { try await manager.resolution(of: id).id } }
        #expect(await eventually { manager.waiters.count(for: id) == 10 })
        try await other.answer(id, button: "Yes")
        for task in asking { #expect(try await task.value == id) }
        for task in waiting { #expect(try await task.value == id) }
        await manager.close()
        await other.close()
    }

    @Test("Responses that come while the maximum of handlers run are handled later")
    func handlers() async throws {
        let manager = try await AlertManager(path: queue.path)
        let gate = ChangeSignal()
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
            await gate.wait(after: 0)
        }
        let count = 80
        for _ in 0..<count {
            let id = try await manager.show(Alert("Go?", buttons: ["Go"], handler: "apply"))
            try await manager.answer(id, button: "Go")
        }
        #expect(await eventually { recorder.lines.count >= 32 })
        gate.change()
        #expect(
            try await eventually {
                try await manager.history(.init(uncollected: true)).isEmpty
            })
        #expect(recorder.lines.sorted() == (1...count).map { "\($0)" }.sorted())
        await manager.close()
    }

    @Test("Answers that come all at once are handled even if they exceed the limit")
    func answersAtOnce() async throws {
        let manager = try await AlertManager(path: queue.path)
        let gate = ChangeSignal()
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
            await gate.wait(after: 0)
        }
        var ids: [Alert.ID] = []
        for _ in 0..<80 {
            ids.append(
                try await manager.show(Alert("Go?", buttons: ["Go"], handler: "apply")))
        }
        try await withThrowingTaskGroup { group in
            for id in ids {
                group.addTask { _ = try await manager.answer(id, button: "Go") }
            }
            try await group.waitForAll()
        }
        #expect(await eventually { recorder.lines.count >= 32 })
        gate.change()
        #expect(
            try await eventually {
                try await manager.history(.init(uncollected: true)).isEmpty
            })
        #expect(recorder.lines.sorted() == ids.map { "\($0)" }.sorted())
        await manager.close()
    }

    @Test("A response whose alert can't be read does not block its handler's other responses")
    func unreadable() async throws {
        let store = try await queue.store()
        for _ in 0..<3 {
            var alert = Alert.yesNo()
            alert.handler = "apply"
            try await store.answer(try await store.ask(alert).id, 0)
        }
        await store.close()
        try queue.forge("UPDATE alerts SET buttons = '[' WHERE id = 2")
        let manager = try await AlertManager(path: queue.path)
        let errors = Recorder()
        manager.onError { errors.note("\($0)") }
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
        }
        #expect(await eventually { recorder.lines.sorted() == ["1", "3"] })
        #expect(await eventually { errors.lines.contains { $0.contains("alert 2") } })
        await manager.close()
    }

    @Test("A manager reads many events in one go, without waiting between pages")
    func events() async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = Task { try await manager.ask(.yesNo()) }
        #expect(try await eventually { try await manager.pendingCount() == 1 })
        let store = try await queue.store()
        let record = try await store.record(1)
        let gate = Gate()
        // Holds the writer's thread, so that the next writes become one commit.
        async let blocked: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        async let filled: Void = store.writes.perform(.answer, "fill") { context in
            for _ in 0..<2500 {
                try context.append(
                    AuditDraft(kind: .returned, record: record),
                    by: .ana, concernsOthers: false)
            }
        }
        #expect(await eventually { store.writes.state.withLock { $0.waiting.count == 1 } })
        async let answered = store.answer(1, 0)
        #expect(await eventually { store.writes.state.withLock { $0.waiting.count == 2 } })
        gate.open()
        _ = try await (blocked, filled, answered)
        let start = ContinuousClock.now
        #expect(try await asking.value.button?.id == "Yes")
        // There are ten pages: with a wait of a second after each, this would take ten seconds.
        #expect(ContinuousClock.now - start < .seconds(5))
        await store.close()
        await manager.close()
    }
}
