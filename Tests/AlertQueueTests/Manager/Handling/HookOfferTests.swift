import AlertQueue
import AlertQueueTesting
import Glibc
import SQLiteStore
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

@Suite("Offers to a hook", .inParallel)
struct HookOfferTests {
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
        try await manager.unclaimed(HistoryFilter(), after: nil, limit: 100).records.map(\.id)
    }

    private func offer(_ id: Alert.ID, isDone: Bool = true) async throws -> (HookOffer, Int) {
        let runs = Mutex(0)
        let end = try await manager.offer(id, grace: .seconds(10)) { _, _ in
            runs.withLock { $0 += 1 }
            return isDone
        }
        return (end, runs.withLock { $0 })
    }

    @Test("A response is collected if the hook succeeds, and stays if it fails")
    func doneOrNot() async throws {
        let id = try await answered()
        let failed = try await offer(id, isDone: false)
        #expect(failed == (.failed, 1))
        #expect(try await found() == [id])
        #expect(try await offer(id) == (.collected, 1))
        #expect(try await offer(id) == (.gone, 0))
        #expect(try await found().isEmpty)
        await manager.close()
    }

    @Test("Waiting alerts and responses for a named handler are not offered")
    func notFound() async throws {
        _ = try await manager.submit(.yesNo())
        var handled = Alert.yesNo()
        handled.handler = "updates.apply"
        _ = try await answered(handled)
        let id = try await answered()
        #expect(try await found() == [id])
        await manager.close()
    }

    @Test("A response that its asker has claimed is left to the asker")
    func claimed() async throws {
        let record = try await manager.submit(.yesNo()).record
        let claim = try #require(await manager.claimResponse(to: record))
        try await manager.answer(record.id, button: "Yes")
        #expect(try await offer(record.id) == (.taken, 0))
        claim.end()
        #expect(try await offer(record.id) == (.collected, 1))
        await manager.close()
    }

    @Test("A response is not offered while its closure runs")
    func closure() async throws {
        let (started, goOn) = (ChangeSignal(), ChangeSignal())
        let id = try await manager.show(.yesNo()) { _, _ in
            started.change()
            await goOn.wait(after: 0)
        }
        try await manager.answer(id, button: "Yes")
        await started.wait(after: 0)
        #expect(try await offer(id) == (.taken, 0))
        goOn.change()
        let manager = manager
        #expect(try await eventually { try await manager.record(id).response?.collectedAt != nil })
        #expect(try await offer(id) == (.gone, 0))
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
        let early = try await other.offer(id, grace: .seconds(10)) { _, _ in true }
        #expect(early == .taken)
        clock.advance(by: .seconds(10))
        let late = try await other.offer(id, grace: .seconds(10)) { _, _ in true }
        #expect(late == .collected)
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
            let page = try await manager.unclaimed(HistoryFilter(), after: position, limit: 2)
            found += page.records.map(\.id)
            (position, isEnd) = (page.next, page.isEnd)
        }
        #expect(found == expected)
        // Up to there it need not be read again.
        #expect(try await position == manager.auditHead()?.sequence)
        await manager.close()
    }
}
