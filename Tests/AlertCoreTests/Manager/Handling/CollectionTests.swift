import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// What becomes of a response whose code has run, while the queue can't be written.
@Suite("Collections that fail", .inParallel)
struct CollectionTests {
    private let clock = ManualClock()
    private let store: GatedStore
    private let runs = Recorder()
    private let failures = Recorder()

    init() { store = GatedStore(InMemoryStore(clock: clock)) }

    /// A manager with an answered alert, whose response can't be collected a number of times.
    private func answered(failing count: Int) async throws -> AlertManager {
        let manager = try await store.manager()
        _ = try await manager.submit(.yesNo())
        try await manager.answer(1, buttonAt: 0)
        let left = Mutex(count)
        store.gate = { [failures] place throws(AlertError) in
            guard case .collecting = place else { return }
            let fails = left.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            guard fails else { return }
            failures.note("failed")
            throw .storage(operation: "collect", "the disk is full")
        }
        return manager
    }

    private func process(_ manager: AlertManager) -> Task<Processing, Never> {
        Task { [runs] in await manager.process(1, of: nil) { _, _ in runs.note("ran") } }
    }

    /// Lets time pass until something is true.
    private func passes(until condition: @escaping () async throws -> Bool) async throws -> Bool {
        try await eventually {
            clock.advance(by: .seconds(60))
            return try await condition()
        }
    }

    @Test("The code runs once, however often its success can't be stored")
    func once() async throws {
        let manager = try await answered(failing: 9)
        let work = process(manager)
        #expect(
            try await passes { try await manager.record(1).response?.collectedAt != nil })
        guard case .collected = await work.value else { return #expect(Bool(false)) }
        #expect(runs.lines == ["ran"] && failures.lines.count == 9)
        await manager.close()
    }

    @Test("A process that is asked to end tries it some times, and leaves the response")
    func ending() async throws {
        let manager = try await answered(failing: .max)
        let work = process(manager)
        #expect(await eventually { failures.lines.count == 1 })
        work.cancel()
        #expect(try await passes { failures.lines.count == 4 })
        guard case .failed = await work.value else { return #expect(Bool(false)) }
        #expect(try await manager.record(1).response?.collectedAt == nil)
        await manager.close()
    }

    @Test("A closed manager tries it no longer")
    func closing() async throws {
        let manager = try await answered(failing: .max)
        let work = process(manager)
        #expect(await eventually { failures.lines.count == 1 })
        await manager.close()
        let end = Recorder()
        Task {
            if case .failed = await work.value { end.note("failed") }
        }
        #expect(try await passes { end.lines == ["failed"] })
        #expect(runs.lines == ["ran"])
    }
}
