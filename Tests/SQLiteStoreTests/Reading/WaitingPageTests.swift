import AlertCore
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Pages of waiting alerts", .inParallel)
struct WaitingPageTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// Forty alerts of all priorities and two sources over ten hours, some of them snoozed.
    private func fill() async throws {
        for number in 0..<40 {
            let priority = Alert.Priority.allCases[number * 7 % 4]
            let source = number % 3 == 0 ? "backup" : "deploy"
            let id = try await store.ask(.yesNo("\(number)", priority: priority), source: source).id
            if number % 5 == 0 {
                // Some of them are snoozed until the same moment.
                let length = Duration.seconds(number % 10 == 0 ? 90_000 : 80_000)
                _ = try await store.snooze(id, for: length, by: .ana)
            }
            clock.advance(by: .seconds(900))
        }
    }

    private func pages(of length: Int, source: String? = nil) async throws -> [Alert.ID] {
        var ids: [Alert.ID] = []
        while true {
            let page = try await store.pending(source: source, after: ids.last, limit: length)
            ids += page.map(\.id)
            guard page.count == length, ids.count < 100 else { return ids }
        }
    }

    @Test("Pages of any length have no gaps and no repeats", arguments: [1, 3, 7, 32, 39, 40])
    func lengths(length: Int) async throws {
        try await fill()
        let all = try await store.pending(limit: 1000).map(\.id)
        #expect(Set(all).count == 40 && all != all.sorted())
        #expect(try await pages(of: length) == all)
        await store.close()
    }

    @Test("One source's pages are its alerts in the order of the whole list")
    func sources() async throws {
        try await fill()
        let all = try await store.pending(limit: 1000)
        for name in ["backup", "deploy", "none"] {
            let own = all.filter { $0.source.name == name }.map(\.id)
            for length in [1, 5, 100] {
                #expect(try await pages(of: length, source: name) == own)
            }
        }
        await store.close()
    }

    @Test("An alert that was answered keeps its position in the pages")
    func resolved() async throws {
        try await fill()
        let all = try await store.pending(limit: 1000).map(\.id)
        let last = all[9]
        try await store.answer(last, 0)
        #expect(try await store.pending(after: last, limit: 1000).map(\.id) == Array(all[10...]))
        await store.close()
    }

    @Test("An alert that does not exist can't be the position to continue from")
    func unknown() async throws {
        try await fill()
        #expect(await thrown { try await store.pending(after: 99, limit: 1) }?.kind == "notFound")
        await store.close()
    }

    @Test("A manager can page through more than a thousand, and clamps the limit")
    func manager() async throws {
        for _ in 0..<1003 { try await store.ask(Alert("T")) }
        await store.close()
        let manager = try await queue.manager()
        #expect(try await manager.pending().count == 100)
        #expect(try await manager.pending(limit: 1).map(\.id) == [1])
        #expect(try await manager.pending(limit: 5000).count == 1003)
        let rest = try await manager.pending(after: 1000, limit: 5000)
        #expect(rest.map(\.id) == [1001, 1002, 1003])
        await manager.close()
    }

    @Test("Words are found in waiting alerts as in the history")
    func words() async throws {
        let titles = ["Prune Snapshots?", "prüne", "other", "old snapshots prune"]
        for title in titles { try await store.ask(.yesNo(title)) }
        let waiting = try await store.pending(limit: 9)
        for text in ["prune", "\"snapshots prune\"", "snap* PRUNE", "yes", "none"] {
            let found = waiting.filter(try SearchText(text).matches).map(\.id)
            for record in waiting where try await store.record(record.id).response == nil {
                try await store.answer(record.id, 0)
            }
            let ended = try await store.history(HistoryFilter(text: text), limit: 9, after: nil)
            #expect(found == ended.map(\.id).sorted(), "\(text)")
        }
        await store.close()
    }
}
