import AlertQueue
import Foundation
import TestSupport
import Testing

@testable import alertq

@Suite("Answer hook's retries", .inParallel)
struct AnswerHookTests {
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
}
