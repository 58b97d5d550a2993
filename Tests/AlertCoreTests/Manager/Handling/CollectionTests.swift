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
    private let reports = Recorder()

    init() { store = GatedStore(InMemoryStore(clock: clock)) }

    /// A manager with an answered alert, whose response can't be collected a number of times.
    private func answered(failing count: Int) async throws -> AlertManager {
        let manager = try await store.manager()
        manager.onError { [reports] in reports.note("\($0)") }
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
        let end = try await end(of: work)
        guard case .collected = end else { return #expect(Bool(false), "\(end)") }
        #expect(runs.lines == ["ran"] && failures.lines.count == 9)
        #expect(reports.lines.count == 1)
        await manager.close()
    }

    @Test(
        "A process that is asked to end tries it some times, and leaves the response",
        arguments: [1, 9])
    func ending(after count: Int) async throws {
        let manager = try await answered(failing: .max)
        let work = process(manager)
        #expect(try await passes { failures.lines.count >= count })
        let before = failures.lines.count
        work.cancel()
        let end = try await end(of: work)
        guard case .unstored = end else { return #expect(Bool(false), "\(end)") }
        #expect((4...5).contains(failures.lines.count - before))
        #expect(try await manager.record(1).response?.collectedAt == nil)
        await manager.close()
    }

    @Test("A closed manager tries it no longer")
    func closing() async throws {
        let manager = try await answered(failing: .max)
        let work = process(manager)
        #expect(await eventually { failures.lines.count == 1 })
        await manager.close()
        let end = try await end(of: work)
        guard case .unstored = end else { return #expect(Bool(false), "\(end)") }
        #expect(runs.lines == ["ran"])
    }

    /// How the code's processing ends, while time passes.
    private func end(of work: Task<Processing, Never>) async throws -> Processing {
        let ends = Recorder()
        Task {
            _ = await work.value
            ends.note("ended")
        }
        #expect(try await passes { !ends.lines.isEmpty })
        return await work.value
    }
}
