import AlertQueue
import AlertQueueTesting
import SQLiteStore
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Handler", .inParallel)
struct HandlerTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    private func answered(_ count: Int) async throws {
        let manager = try await AlertManager(path: queue.path)
        for number in 0..<count {
            let id = try await manager.show(
                Alert("Question \(number)", buttons: ["Go"], handler: "apply"))
            try await manager.answer(id, button: "Go")
        }
        await manager.close()
    }

    @Test("A handler registered after a restart gets every response once")
    func restart() async throws {
        try await answered(40)
        let manager = try await AlertManager(path: queue.path)
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
        }
        #expect(
            try await eventually {
                try await manager.history(.init(uncollected: true)).isEmpty
            })
        #expect(recorder.lines.sorted() == (1...40).map { "\($0)" }.sorted())
        await manager.close()
    }

    @Test("A handler gets the responses of its own account only")
    func otherAccount() async throws {
        let store = try await queue.store()
        for caller in [Caller.ben, .eve] {
            _ = try await store.enqueue(
                Question(
                    alert: Alert("Go on?", buttons: ["Go"], handler: "apply"), source: "test"),
                by: caller)
        }
        for id in 1...2 as ClosedRange<Alert.ID> { try await store.answer(id, 0) }
        let manager = try await queue.manager(caller: .eve)
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
        }
        #expect(await eventually { recorder.lines == ["2"] })
        // A later response goes another way.
        for caller in [Caller.ben, .eve] {
            let asked = try await store.enqueue(
                Question(
                    alert: Alert("Go on?", buttons: ["Go"], handler: "apply"), source: "test"),
                by: caller)
            try await store.answer(asked.record.id, 0)
        }
        #expect(await eventually { recorder.lines == ["2", "4"] })
        #expect(
            try await eventually {
                try await manager.history(.init(uncollected: true)).map(\.id) == [3, 1]
            })
        await manager.close()
        await store.close()
    }

    @Test("A handler gets responses that another process stores")
    func otherProcess() async throws {
        let manager = try await AlertManager(path: queue.path)
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note(response.button?.id ?? "none")
        }
        try await answered(1)
        #expect(await eventually { recorder.lines == ["Go"] })
        await manager.close()
    }

    @Test("A handler that throws is retried after one second, then two, then four")
    func throwing() async throws {
        struct Trouble: Error {}
        try await answered(1)
        let clock = ManualClock()
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let errors = Recorder()
        manager.onError { errors.note("\($0)") }
        try await manager.register(handler: "apply") { [recorder] _ in
            recorder.note("tried")
            throw Trouble()
        }
        for (count, pause) in [(1, 1), (2, 2), (3, 4)] {
            #expect(await eventually { errors.lines.count == count })
            #expect(errors.lines.last?.hasSuffix("trying again in \(pause) s") == true)
            // News of other alerts must not lead to an earlier attempt.
            try await manager.show(Alert("Another", buttons: ["Go"]))
            clock.advance(by: .seconds(pause) - .milliseconds(1))
            await manager.tellHandlers(.time)
            #expect(recorder.lines.count == count)
            clock.advance(by: .milliseconds(1))
            #expect(await eventually { recorder.lines.count == count + 1 })
        }
        #expect(await eventually { errors.lines.count == 4 })
        #expect(try await manager.history(.init(uncollected: true)).count == 1)
        try await manager.register(handler: "apply") { [recorder] _ in recorder.note("done") }
        #expect(await eventually { recorder.lines.last == "done" })
        #expect(
            try await eventually { try await manager.history(.init(uncollected: true)).isEmpty })
        await manager.close()
    }

    @Test("A response is taken over when its handler dies in another process")
    func takeover() async throws {
        try await answered(1)
        let other = try await queue.store()
        let turn = try #require(try await other.lease(1))
        let manager = try await AlertManager(path: queue.path)
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
        }
        // The manager has found that another process has the turn.
        let now = manager.context.clock.now()
        #expect(await eventually { await manager.handlers.nextMoment(after: now) != nil })
        #expect(recorder.lines.isEmpty)
        turn.end()
        #expect(await eventually { recorder.lines == ["1"] })
        await manager.close()
        await other.close()
    }

    @Test("At most 32 handlers run at once, oldest responses first, and every response is handled")
    func limit() async throws {
        try await answered(100)
        let manager = try await AlertManager(path: queue.path)
        let gate = ChangeSignal()
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
            await gate.wait(after: 0)
        }
        #expect(await eventually { recorder.lines.count == 32 })
        #expect(Set(recorder.lines) == Set((1...32).map { "\($0)" }))
        // One more comes while all are busy.
        try await answered(1)
        gate.change()
        #expect(await eventually { recorder.lines.count == 101 })
        #expect(
            try await eventually { try await manager.history(.init(uncollected: true)).isEmpty })
        #expect(recorder.lines.count == 101)
        await manager.close()
    }

    @Test("What another process collects while it waits for its turn is not handled again")
    func collectedMeanwhile() async throws {
        try await answered(40)
        let manager = try await AlertManager(path: queue.path)
        let other = try await AlertManager(path: queue.path)
        let gate = ChangeSignal()
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
            await gate.wait(after: 0)
        }
        #expect(await eventually { recorder.lines.count == 32 })
        for id: Alert.ID in 33...40 { try await other.collect(id) }
        gate.change()
        // Its turn comes after theirs.
        try await answered(1)
        #expect(await eventually { recorder.lines.contains("41") })
        await manager.close()
        #expect(Set(recorder.lines) == Set(((1...32) + [41]).map { "\($0)" }))
        #expect(recorder.lines.count == 33)
        await other.close()
    }

    @Test(
        "A response with a handler's name is collected only after that handler has returned",
        arguments: ["closure", "ask"])
    func collectedByHandler(way: String) async throws {
        let presenter = ScriptedPresenter { $0.buttons.isEmpty ? .close : .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let alert = Alert("Go?", buttons: ["Go"], handler: "apply")
        if way == "ask" {
            _ = try await manager.ask(alert)
        } else {
            try await manager.show(alert) { [recorder] _, _ in recorder.note("closure") }
            #expect(await eventually { recorder.lines == ["closure"] })
        }
        // Once this is stored, an earlier collection would have been stored, too.
        try await manager.show(Alert("Another"))
        #expect(try await manager.record(1).response?.collectedAt == nil)
        let gate = ChangeSignal()
        try await manager.register(handler: "apply") { [recorder] _ in
            recorder.note("handler")
            await gate.wait(after: 0)
        }
        #expect(await eventually { recorder.lines.last == "handler" })
        #expect(try await manager.record(1).response?.collectedAt == nil)
        gate.change()
        #expect(
            try await eventually { try await manager.record(1).response?.collectedAt != nil })
        #expect(recorder.lines.count { $0 == "handler" } == 1)
        await manager.close()
    }

    @Test("A closure runs before the handler of the same alert")
    func order() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        try await manager.register(handler: "apply") { [recorder] _ in recorder.note("handler") }
        try await manager.show(Alert("Go?", buttons: ["Go"], handler: "apply")) {
            [recorder] _, _ in
            // Long enough for a handler that does not wait to run first.
            for _ in 0..<1000 { await Task.yield() }
            recorder.note("closure")
        }
        #expect(await eventually { recorder.lines == ["closure", "handler"] })
        #expect(
            try await eventually { try await manager.record(1).response?.collectedAt != nil })
        #expect(recorder.lines.count == 2)
        await manager.close()
    }

    @Test("Two processes that register the same handler run it once for each response")
    func exclusive() async throws {
        let managers = [
            try await AlertManager(path: queue.path), try await AlertManager(path: queue.path),
        ]
        for manager in managers {
            try await manager.register(handler: "apply") { [recorder] response in
                recorder.note("\(response.alertID)")
            }
        }
        try await answered(30)
        #expect(
            try await eventually {
                try await managers[0].history(.init(uncollected: true)).isEmpty
            })
        #expect(recorder.lines.count == 30)
        for manager in managers { await manager.close() }
    }
}
