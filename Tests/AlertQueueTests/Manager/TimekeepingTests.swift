import AlertQueue
import AlertQueueTesting
import CLinux
import Glibc
import Linux
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import SQLiteStore

/// Deadlines and snoozes that end while no caller reads, shows or waits.
@Suite("Timekeeping", .inParallel)
struct TimekeepingTests {
    let queue: TemporaryQueue
    let clock = ManualClock()
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    /// The stored state of an alert, which a reader may see differently.
    private func storedState(_ id: Alert.ID) throws -> String? {
        try queue.connection().rows(
            "SELECT iif(outcome IS NULL, 'queued', 'resolved') FROM alerts WHERE id = ?",
            [.integer(id)]
        ) {
            $0.text()
        }.first
    }

    private func deadline(_ handler: String? = nil, default button: String? = nil) -> Alert {
        Alert(
            "Reboot?", buttons: ["Yes", .cancel("No")], deadline: .after(.seconds(60)),
            defaultButton: button, handler: handler)
    }

    @Test("A deadline is applied for a named handler without a reader of the history")
    func namedHandler() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        try await manager.register(handler: "reboot") { [recorder] response in
            recorder.note("\(response.outcome) \(response.button?.id ?? "-")")
        }
        try await manager.show(deadline("reboot", default: "No"))
        clock.advance(by: .seconds(60))
        #expect(await eventually { recorder.lines == ["expired No"] })
        await manager.close()
    }

    @Test("A wait for an overdue alert where nothing can be stored ends with the reason")
    func reading() async throws {
        let asker = try await AlertManager(path: queue.path, clock: clock)
        let id = try await asker.show(deadline())
        await asker.close()
        clock.advance(by: .seconds(61))
        let reader = try await AlertManager(reading: queue.path, clock: clock)
        let waiting = Task { try await reader.resolution(of: id) }
        #expect(await eventually { reader.waiters.count(for: id) == 1 })
        // A process that writes would have stored it by then.
        clock.advance(by: .seconds(5))
        let error = await thrown { try await waiting.value }
        #expect(error?.description.contains("opened for reading") == true, "\(error as Any)")
        #expect(try storedState(id) == "queued")
        await reader.close()
    }

    @Test("A deadline that nobody waits for is stored by any open manager")
    func anyManager() async throws {
        let idle = try await AlertManager(path: queue.path, clock: clock)
        let asker = try await AlertManager(path: queue.path, clock: clock)
        let id = try await asker.show(deadline())
        await asker.close()
        clock.advance(by: .seconds(61))
        #expect(try await eventually { try storedState(id) == "resolved" })
        await idle.close()
    }

    @Test("The earliest of several deadlines is applied first, even if it was asked last")
    func earliest() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        var late = deadline()
        late.deadline = .after(.seconds(600))
        let second = try await manager.show(late)
        let first = try await manager.show(deadline())
        clock.advance(by: .seconds(60))
        #expect(try await eventually { try storedState(first) == "resolved" })
        #expect(try storedState(second) == "queued")
        clock.advance(by: .seconds(540))
        #expect(try await eventually { try storedState(second) == "resolved" })
        await manager.close()
    }

    @Test("A deadline that passed while no process ran is applied for the next registration")
    func afterRestart() async throws {
        let first = try await AlertManager(path: queue.path, clock: clock)
        try await first.show(deadline("reboot"))
        await first.close()
        clock.advance(by: .seconds(3600))
        let second = try await AlertManager(path: queue.path, clock: clock)
        try await second.register(handler: "reboot") { [recorder] response in
            recorder.note("\(response.outcome)")
        }
        #expect(await eventually { recorder.lines == ["expired"] })
        await second.close()
    }

    @Test("The end of a snooze that another process has stored brings the alert back")
    func storedElsewhere() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], clock: clock)
        let id = try await manager.show(.yesNo())
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.later(.seconds(60)))
        #expect(try await eventually { try await manager.record(id).snoozes == 1 })
        #expect(await eventually { await manager.screen.isIdle })
        // By the presenter's own clock the snooze is not over.
        let later = ManualClock(clock.now().advanced(by: .seconds(60)))
        let store = try await queue.store(clock: later)
        try await store.sweep(atMost: .max)
        #expect(try await presenter.waitUntilShown(within: .seconds(20)).id == id)
        presenter.choose(.button(0))
        #expect(try await eventually { try await store.record(id).response != nil })
        await store.close()
        await manager.close()
    }

    @Test("The end of a snooze is stored even if no screen shows alerts")
    func snooze() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let id = try await manager.show(.yesNo())
        try await manager.snooze(id, for: .seconds(30))
        clock.advance(by: .seconds(30))
        #expect(
            try await eventually {
                try queue.integer("SELECT count(*) FROM alerts WHERE snoozed_ms IS NULL") == 1
            })
        await manager.close()
    }

    @Test("The count of waiting alerts matches the list, before and after a deadline")
    func count() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        try await manager.show(deadline())
        try await manager.show(.yesNo())
        await manager.close()
        let store = try await queue.store(clock: clock)
        for (seconds, count) in [(59, 2), (2, 1)] {
            clock.advance(by: .seconds(seconds))
            #expect(try await store.pendingCount() == count)
            #expect(try await store.pending(limit: 10).count == count)
            let atOnce = SQLiteAlertStore.pendingCountAtOnce(path: queue.path, clock: clock)
            #expect(atOnce == count)
        }
        let waiting = try queue.integer("SELECT pending FROM sources WHERE name = ''")
        #expect(waiting == 2, "nothing was stored")
        await store.close()
    }

    @Test("While the queue is locked, waiting for an overdue question throws busy")
    func locked() async throws {
        let manager = try await queue.manager(busyTime: .milliseconds(300))
        // It passes only after the queue has been locked.
        let question = Alert.yesNo(deadline: .after(.seconds(2)), key: "one")
        let id = try await manager.show(question)
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        let waiting = await thrown { try await manager.resolution(of: id) }
        #expect(waiting?.kind == "busy")
        // Asking again finds no stored expiry either.
        let again = await thrown { try await manager.ask(question) }
        #expect(again?.kind == "busy")
        #expect(try storedState(id) == "queued")
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        #expect(try await eventually { try storedState(id) == "resolved" })
        await manager.close()
    }

    @Test("An error is reported when the deadlines of a locked queue can't be applied")
    func trouble() async throws {
        let store = try await SQLiteAlertStore.open(
            path: queue.path, clock: clock, busyTime: .milliseconds(50), appliesDeadlines: true
        ) { [recorder] error in
            if case .deadlines(let cause) = error { recorder.note(cause.kind) }
        }
        let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).id
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        clock.advance(by: .seconds(60))
        #expect(await eventually { recorder.lines == ["busy"] })
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        #expect(try await eventually { try storedState(id) == "resolved" })
        await store.close()
    }

    @Test("A manager that applies deadlines on a locked queue closes at once")
    func closing() async throws {
        // A writer would wait for its turn for longer than this test.
        let store = try await SQLiteAlertStore.open(
            path: queue.path, busyTime: .seconds(3600), appliesDeadlines: true)
        let manager = try await AlertManager(
            store: store, path: queue.path, source: "test", caller: .ana, presenters: [],
            delegate: nil, clock: .system)
        try await manager.show(.yesNo(deadline: .after(.milliseconds(100))))
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        #expect(await eventually { store.timekeeper?.isApplyingDeadlines == true })
        let closing = Task {
            await manager.close()
            recorder.note("closed")
        }
        #expect(await eventually { recorder.lines == ["closed"] })
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        await closing.value
    }

    @Test("Each of a hundred questions that wait for one deadline gets its expiry")
    func many() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await manager.ask(.yesNo(deadline: .after(.seconds(5)))).outcome
                }
            }
            #expect(try await eventually { try await manager.pendingCount() == 100 })
            clock.advance(by: .seconds(5))
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: .expired, count: 100))
        #expect(try await manager.verifyAudit().problems.isEmpty)
        await manager.close()
    }
}
