import AlertQueue
import AlertQueueTesting
import SQLite
import SQLiteStore
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

/// A manager hands out nothing that contradicts the log, and reports what does.
@Suite("Manager and a contradicting log", .inParallel)
struct ToldByManagerTests {
    let queue: TemporaryQueue
    let manager: AlertManager
    let lines = Recorder()

    init() async throws {
        queue = try TemporaryQueue()
        manager = try await AlertManager(path: queue.path, source: "test")
        manager.onError { [lines] error in
            if case .inconsistent(let id, _) = error { lines.note("inconsistent \(id)") }
            if case .handler(_, let id, AlertError.inconsistent, _) = error {
                lines.note("handler \(id)")
            }
        }
    }

    /// Answers "No" in another process, and forges the stored answer before anybody reads it.
    private func answeredAndFlipped(_ id: Alert.ID) async throws {
        let other = try await queue.store()
        try await other.answer(id, 1)
        try queue.forge("UPDATE alerts SET button_index = 0")
        await other.close()
    }

    @Test("A handler does not run for a forged answer, but runs once the answer is restored")
    func handler() async throws {
        var alert = Alert.yesNo("Delete?")
        alert.handler = "delete"
        let id = try await manager.submit(alert).record.id
        try await answeredAndFlipped(id)
        try await manager.register(handler: "delete") { [lines] response in
            lines.note("ran \(response.buttonIndex)")
        }
        #expect(await eventually { lines.lines.contains("handler \(id)") })
        try queue.forge("UPDATE alerts SET button_index = 1")
        #expect(await eventually { lines.lines.contains("ran 1") })
        await manager.close()
        #expect(!lines.lines.contains("ran 0"))
    }

    @Test("A handler does not run for a response whose handler was forged")
    func anotherHandler() async throws {
        var alert = Alert.yesNo("Keep?")
        alert.handler = "keep"
        let id = try await manager.submit(alert).record.id
        let other = try await queue.store()
        try await other.answer(id, 0)
        try queue.forge("UPDATE alerts SET handler = 'delete'")
        try await manager.register(handler: "delete") { [lines] _ in lines.note("deleted") }
        #expect(await eventually { lines.lines.contains("handler \(id)") })
        await other.close()
        await manager.close()
        #expect(!lines.lines.contains("deleted"))
    }

    @Test("Even 209 alerts that contradict the log do not keep a sound one off the screen")
    func manyContradicted() async throws {
        for number in 1...210 { _ = try await manager.submit(.yesNo("Number \(number)?")) }
        try queue.forge("UPDATE alerts SET title = 'Keep?' WHERE id <= 209")
        let presenter = ScriptedPresenter { _ in .button(0) }
        let screen = try await AlertManager(path: queue.path, presenters: [presenter])
        #expect(await eventually { presenter.shown.map(\.alert.title) == ["Number 210?"] })
        await screen.close()
        await manager.close()
    }

    @Test("An alert that is forged while it is shown leaves the screen, and the next one comes")
    func changedOnScreen() async throws {
        let id = try await manager.submit(.yesNo("Delete?")).record.id
        let path = queue.path
        let presenter = ScriptedPresenter { alert in
            if alert.title == "Delete?" {
                let db = try Database(path: path)
                db.setTriggers(areOn: false)
                try db.execute("UPDATE alerts SET title = 'Keep?'")
            }
            return .button(0)
        }
        let screen = try await AlertManager(path: queue.path, presenters: [presenter])
        screen.onError { [lines] error in
            if case .inconsistent(let id, _) = error { lines.note("refused \(id)") }
        }
        #expect(await eventually { lines.lines.contains("refused \(id)") })
        #expect(try await manager.ask(.yesNo("Good?")).button?.id == "Yes")
        #expect(presenter.shown.map(\.alert.title) == ["Delete?", "Good?"])
        await screen.close()
        await manager.close()
    }

    @Test("An alert that contradicts the log does not keep the queue from counting as empty")
    func presentedAll() async throws {
        let id = try await manager.submit(.yesNo("Delete?")).record.id
        try queue.forge("UPDATE alerts SET title = 'Keep?'")
        let screen = try await AlertManager(path: queue.path)
        screen.onError { [lines] error in
            if case .inconsistent(let id, _) = error { lines.note("inconsistent \(id)") }
        }
        try await screen.startPresenting([ScriptedPresenter()])
        try await screen.presentedAll()
        #expect(lines.lines == ["inconsistent \(id)"])
        await screen.close()
        await manager.close()
    }

    @Test("A screen that follows reports a current alert that contradicts the log once, then rests")
    func following() async throws {
        let id = try await manager.submit(.yesNo("Delete?")).record.id
        let presenter = ScriptedPresenter()
        let leader = try await AlertManager(path: queue.path, presenters: [presenter])
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        try queue.forge("UPDATE alerts SET title = 'Keep?'")
        let follower = try await AlertManager(path: queue.path)
        follower.onError { [lines] error in
            if case .inconsistent(let id, _) = error { lines.note("inconsistent \(id)") }
        }
        try await follower.startPresenting([ScriptedPresenter(name: "other")])
        #expect(await eventually { lines.lines == ["inconsistent \(id)"] })
        // Each wake-up is another look.
        for _ in 1...10 {
            let looks = await follower.screen.isIdle
            follower.wake()
            #expect(await eventually { await follower.screen.isIdle } || looks)
        }
        #expect(lines.lines == ["inconsistent \(id)"])
        await follower.close()
        await leader.close()
        await manager.close()
    }

    @Test("An asker does not accept the response to another question with the same id")
    func replaced() async throws {
        let asking = Task { try await manager.ask(.yesNo("Drop the database?")) }
        try #require(await eventually { manager.waiters.count(for: 1) == 1 })
        let asked = try await manager.record(1)
        let docs = Alert.yesNo("Deploy the docs?")
        let response = Response(
            alertID: 1, outcome: .answered, buttonIndex: 0, button: docs.buttons[0], by: .person,
            responder: nil, resolvedAt: asked.askedAt, collectedAt: nil, userInfo: [:])
        await manager.settle(
            AlertRecord(
                id: 1, alert: docs, source: asked.source, state: .resolved, askedAt: asked.askedAt,
                presentedAt: nil, expiresAt: nil, snoozedUntil: nil, snoozes: 0, response: response)
        )
        let error = await thrown { try await asking.value }
        #expect(error?.description.contains("its title is not what") == true, "\(error as Any)")
        var same = asked
        same.response = response
        #expect(await thrown { try same.check(isThatOf: asked) } == nil)
        await manager.close()
    }

    @Test("Asking again, reading and collecting throw for a forged answer")
    func reading() async throws {
        let id = try await manager.submit(.yesNo("Delete?", key: "k")).record.id
        try await answeredAndFlipped(id)
        for error in [
            await thrown { try await manager.ask(.yesNo("Delete?", key: "k")) },
            await thrown { try await manager.record(id) },
            await thrown { try await manager.record(key: "k") },
            await thrown { try await manager.collect(id) },
        ] {
            #expect(error?.kind == "inconsistent")
        }
        #expect(
            try queue.integer(
                "SELECT count(*) FROM alerts WHERE resolved_ms > 0 AND collected_ms IS NULL") == 1)
        await manager.close()
    }

    @Test("An alert that contradicts the log is not shown, and the manager reports it")
    func presenting() async throws {
        let id = try await manager.submit(.yesNo("Delete?")).record.id
        try queue.forge("UPDATE alerts SET title = 'Keep?'")
        let presenter = ScriptedPresenter { _ in .button(0) }
        let screen = try await AlertManager(path: queue.path, presenters: [presenter])
        screen.onError { [lines] error in
            if case .inconsistent(let id, _) = error { lines.note("inconsistent \(id)") }
        }
        #expect(await eventually { lines.lines.contains("inconsistent \(id)") })
        let good = try await manager.ask(.yesNo("Good?"))
        #expect(good.button?.id == "Yes")
        #expect(presenter.shown.map(\.alert.title) == ["Good?"])
        await screen.close()
        await manager.close()
    }
}
