import AlertQueue
import AlertQueueTesting
import Glibc
import SQLiteStore
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

@Suite("Processing of responses", .inParallel)
struct ProcessingTests {
    private struct Trouble: Error {}

    let queue: TemporaryQueue
    let manager: AlertManager

    init() async throws {
        queue = try TemporaryQueue()
        manager = try await AlertManager(path: queue.path, source: "test")
    }

    private func answered(_ alert: Alert = .yesNo()) async throws -> Alert.ID {
        let id = try await manager.submit(alert).record.id
        try await manager.answer(id, button: "Yes")
        return id
    }

    private func found() async throws -> [Alert.ID] {
        try await manager.awaitingHook(HistoryFilter(), after: nil, limit: 100).records.map(\.id)
    }

    /// Processes a response as a hook does; returns how that ended, and how often the code ran.
    private func process(
        _ id: Alert.ID, isDone: Bool = true
    ) async -> (end: ProcessingEnd, runs: Int) {
        let runs = Mutex(0)
        let end = await manager.process(id, of: nil, grace: .seconds(10)) { _, _ in
            runs.withLock { $0 += 1 }
            if !isDone { throw Trouble() }
        }
        return (ProcessingEnd(end), runs.withLock { $0 })
    }

    @Test("A response is collected if the code succeeds, and stays if it fails")
    func doneOrNot() async throws {
        let id = try await answered()
        #expect(await process(id, isDone: false) == (.failed, 1))
        #expect(try await found() == [id])
        #expect(await process(id) == (.collected, 1))
        #expect(await process(id) == (.gone, 0))
        #expect(try await found().isEmpty)
        await manager.close()
    }

    @Test("Waiting alerts and responses for a named handler are not for a hook")
    func notFound() async throws {
        _ = try await manager.submit(.yesNo())
        var handled = Alert.yesNo()
        handled.handler = "updates.apply"
        let other = try await answered(handled)
        let id = try await answered()
        #expect(try await found() == [id])
        // Also not if a row says otherwise.
        #expect(await process(other) == (.failed, 0))
        await manager.close()
    }

    @Test("A response that its asker has leased is left to the asker")
    func leased() async throws {
        let record = try await manager.submit(.yesNo()).record
        let lease = try #require(await manager.leaseResponse(to: record))
        try await manager.answer(record.id, button: "Yes")
        #expect(await process(record.id) == (.held, 0))
        lease.end()
        #expect(await process(record.id) == (.collected, 1))
        await manager.close()
    }

    @Test("A response is left to its closure while that runs")
    func closure() async throws {
        let (started, goOn) = (ChangeSignal(), ChangeSignal())
        let id = try await manager.show(.yesNo()) { _, _ in
            started.change()
            await goOn.wait(after: 0)
        }
        try await manager.answer(id, button: "Yes")
        await started.wait(after: 0)
        #expect(await process(id) == (.held, 0))
        goOn.change()
        let manager = manager
        #expect(try await eventually { try await manager.record(id).response?.collectedAt != nil })
        #expect(await process(id) == (.gone, 0))
        await manager.close()
    }

    @Test("An asker whose process still runs has until the grace time is over")
    func runningAsker() async throws {
        // The parent of this process, which is running, is the asker.
        let store = try await queue.store()
        var parent = Caller(via: "test")
        var process = ProcessIdentity.current
        process.pid = getppid()
        parent.means = .process(process)
        let id = try await store.enqueue(Question(alert: .yesNo(), source: "test"), by: parent)
            .record.id
        try await store.answer(id, 0)
        await store.close()
        let clock = ManualClock(AlertQueue.SystemClock().now())
        let other = try await AlertManager(path: queue.path, clock: clock)
        let early = await other.process(id, of: nil, grace: .seconds(10)) { _, _ in }
        #expect(ProcessingEnd(early) == .held)
        clock.advance(by: .seconds(10))
        let late = await other.process(id, of: nil, grace: .seconds(10)) { _, _ in }
        #expect(ProcessingEnd(late) == .collected)
        await other.close()
        await manager.close()
    }

    @Test("Pages have no gaps, no matter how many responses others have collected")
    func pages() async throws {
        var expected: [Alert.ID] = []
        for number in 0..<50 {
            let id = try await answered()
            if number % 10 == 0 { expected.append(id) } else { try await manager.collect(id) }
        }
        var (found, position, isEnd): ([Alert.ID], Int64?, Bool) = ([], nil, false)
        while !isEnd {
            let page = try await manager.awaitingHook(HistoryFilter(), after: position, limit: 2)
            found += page.records.map(\.id)
            (position, isEnd) = (page.next, page.isEnd)
        }
        #expect(found == expected)
        // Up to there it need not be read again.
        #expect(try await position == manager.auditHead()?.sequence)
        await manager.close()
    }
}

/// A ``Processing`` without what it carries.
private enum ProcessingEnd {
    case collected, gone, stale, held, failed, unstored, notLeased

    init(_ end: Processing) {
        self =
            switch end {
            case .collected: .collected
            case .gone: .gone
            case .stale: .stale
            case .held: .held
            case .failed: .failed
            case .unstored: .unstored
            case .notLeased: .notLeased
            }
    }
}
