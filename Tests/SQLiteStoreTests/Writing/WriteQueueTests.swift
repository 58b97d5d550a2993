import AlertCore
import AlertTables
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Write queue", .inParallel)
struct WriteQueueTests {
    /// How often an engine was woken.
    private final class WakeUps: Sendable {
        private let number = Mutex(0)

        func count() { number.withLock { $0 += 1 } }

        var total: Int { number.withLock { $0 } }
    }

    private let writes = WriteQueue()
    private let wakeUps = WakeUps()

    init() { writes.whenDue { [wakeUps] _ in wakeUps.count() } }

    private func write() -> Task<Void, Never> {
        Task { [writes] in _ = try? await writes.perform(.ask, "ask") { _ in } }
    }

    private func finish(_ tasks: [Task<Void, Never>]) async {
        for job in writes.take(atMost: .max) { job.finish(.closed) }
        for task in tasks { await task.value }
    }

    @Test("An engine that waits is woken for the first caller, and one that works for none")
    func callers() async throws {
        _ = writes.nextDue(lookingAgainAt: nil)
        let first = write()
        #expect(await eventually { writes.hasCallers })
        #expect(wakeUps.total == 1)
        #expect(writes.nextDue(lookingAgainAt: nil).due != nil)
        let second = write()
        #expect(await eventually { writes.state.withLock { $0.waiting.count == 2 } })
        #expect(wakeUps.total == 1)
        await finish([first, second])
    }

    @Test("A caller does not rely on an engine's timer, which may be late; what is posted does")
    func lateTimer() async throws {
        let look = ContinuousClock.now + WriteQueue.postedTime / 2
        #expect(writes.nextDue(lookingAgainAt: look).due == nil)
        writes.post("post") { _ in }
        #expect(wakeUps.total == 0)
        #expect(await eventually { ContinuousClock.now > look })
        let caller = write()
        #expect(await eventually { writes.hasCallers })
        #expect(wakeUps.total == 1)
        await finish([caller])
    }

    @Test("An engine that looks much later is woken for what is posted")
    func posted() {
        #expect(writes.nextDue(lookingAgainAt: .now + .seconds(3600)).due == nil)
        writes.post("post") { _ in }
        #expect(wakeUps.total == 1)
        writes.post("post") { _ in }
        #expect(wakeUps.total == 1)
    }

    @Test("An engine that has not looked when it meant to is woken for what is posted")
    func late() async {
        let look = ContinuousClock.now
        #expect(writes.nextDue(lookingAgainAt: look).due == nil)
        writes.post("post") { _ in }
        #expect(wakeUps.total == 1)
    }
}
