import AlertQueue
import Foundation
import TestSupport
import Testing

@testable import alertq

@Suite("Answer hook's retries", .inParallel)
struct AnswerHookTests {
    private let now = ContinuousClock.now

    private func retry(
        _ id: Alert.ID, failures: Int = 1, in seconds: Int
    ) -> RetryList.Retry {
        .init(id: id, failures: failures, due: now + .seconds(seconds))
    }

    @Test("A full list forgets the response that is due last, and remembers that it did")
    func full() {
        var list = RetryList(limit: 2, pause: .seconds(60))
        list.add(retry(1, failures: 7, in: 100), now: now)
        list.add(retry(2, in: 5), now: now)
        #expect(list.forgotten == nil && list.count == 2)
        list.add(retry(3, in: 1), now: now)
        #expect(list.count == 2 && !list.contains(1) && list.contains(3))
        #expect(list.forgotten?.failures == 7)
        #expect(list.firstDue == now + .seconds(1))
        #expect(list.due(at: now + .seconds(9)).map(\.id) == [3, 2])
        list.remove(3)
        #expect(list.count == 1 && list.due(at: now).isEmpty)
    }

    @Test("The store is read again when a forgotten response is due, but never before the pause")
    func recall() {
        var list = RetryList(limit: 1, pause: .seconds(60))
        for id in 1...1000 as ClosedRange<Int64> { list.add(retry(id, in: Int(id)), now: now) }
        #expect(list.count == 1 && list.contains(1))
        #expect(list.recall(at: now + .seconds(59)) == nil)
        #expect(list.recall(at: now + .seconds(60))?.failures == 1)
        #expect(list.recall(at: now + .seconds(600)) == nil)
        list.add(retry(5, in: 300), now: now)
        #expect(list.recall(at: now + .seconds(299)) == nil)
        #expect(list.recall(at: now + .seconds(300)) != nil)
    }

    @Test("More failures than it remembers neither hold up a newer answer nor are lost")
    func moreThanFit() async throws {
        let folder = try TemporaryDirectory()
        let directory = folder.path
        let manager = try await AlertManager(path: directory + "/queue.db", source: "test")
        func answer() async throws {
            let id = try await manager.submit(Alert("Prune?", buttons: Sample.buttons)).record.id
            try await manager.answer(id, button: "yes")
        }
        func left() async throws -> [Alert.ID] {
            try await manager.history(HistoryFilter(uncollected: true), limit: 100)
                .map(\.id).sorted()
        }
        for _ in 1...6 { try await answer() }
        // The first six fail until a file exists.
        let script = "echo x >> \(directory)/runs; [ $ALERTQ_ALERT -gt 6 -o -e \(directory)/go ]"
        var hook = AnswerHook(
            manager: manager, filter: HistoryFilter(),
            program: HookProgram(
                words: ["/bin/sh", "-c", script], limit: .seconds(30), sharesOutput: false,
                signals: []),
            isJSON: false, context: TestContext().context())
        hook.retryLimit = 2
        hook.pause = .milliseconds(200)
        let work = Task { [hook] in try await hook.run() }
        try #require(await eventually { runs(directory) >= 6 })
        try await answer()
        let kept = await eventually {
            (try? await left()) == [1, 2, 3, 4, 5, 6]
        }
        #expect(kept)
        // They are tried again one after the other, but only after a pause.
        #expect(await eventually { runs(directory) >= 12 })
        #expect(runs(directory) < 100)
        try Data().write(to: URL(filePath: directory + "/go"))
        #expect(await eventually { (try? await left()) == [] })
        work.cancel()
        try await work.value
        await manager.close()
    }

    private func runs(_ directory: String) -> Int {
        (try? Data(contentsOf: URL(filePath: directory + "/runs")))?.count { $0 == 0x78 } ?? 0
    }

    @Test("The pause after a failure doubles, up to ten minutes")
    func delays() {
        let seconds = [1, 2, 3, 10, 11, 1000].map {
            AnswerHook.delay(after: $0).components.seconds
        }
        #expect(seconds == [1, 2, 4, 512, 600, 600])
    }
}
