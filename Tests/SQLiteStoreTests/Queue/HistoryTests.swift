import AlertCore
import AlertQueueTesting
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("History", .inParallel)
struct HistoryTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    private static let middle = Timestamp.date(milliseconds: 1_767_225_600_000 + 20_000)

    /// Forty responses of all kinds over forty seconds, some collected.
    private func fill() async throws {
        for index in 0..<40 {
            var alert = Alert.yesNo("\(index)", deadline: .after(.milliseconds(500)))
            if index % 3 == 0 { alert.key = "key-\(index)" }
            if index % 4 == 0 { alert.defaultButton = "No" }
            let source = index % 2 == 0 ? "backup" : "deploy"
            let question = Question(alert: alert, source: "\(source)-\(index / 30)")
            let asked = try await store.enqueue(question, by: Caller(via: "x"))
            guard asked.isNew else { continue }
            let id = asked.record.id
            switch index % 7 {
            case 0, 1, 2: try await store.answer(id, index % 2)
            case 3: _ = try await store.resolve(id, .withdraw(), by: .ben)
            case 4: _ = try await store.resolve(id, .cancel(handled: false), by: .ben)
            default: break
            }
            clock.advance(by: .seconds(1))
            _ = try await store.expire(id, by: .keeper)
            if index % 5 == 0 { _ = try await store.collect(id, by: .ben) }
        }
    }

    private typealias Condition = (
        set: @Sendable (inout HistoryFilter) -> Void,
        holds: @Sendable (AlertRecord, Response) -> Bool
    )

    private static let conditions: [Condition] = [
        ({ $0.source = "backup-0" }, { record, _ in record.source.name == "backup-0" }),
        ({ $0.key = "key-9" }, { record, _ in record.alert.key == "key-9" }),
        ({ $0.outcome = .answered }, { $1.outcome == .answered }),
        ({ $0.outcome = .expired }, { $1.outcome == .expired }),
        ({ $0.button = "No" }, { $1.button?.id == "No" }),
        ({ $0.by = .person }, { $1.by == .person }),
        ({ $0.by = .policy }, { $1.by == .policy }),
        ({ $0.user = "ana" }, { $1.responder?.user == "ana" }),
        ({ $0.via = "answer" }, { $1.responder?.via == "answer" }),
        ({ $0.since = middle }, { $1.resolvedAt >= middle }),
        ({ $0.until = middle }, { $1.resolvedAt < middle }),
        ({ $0.uncollected = true }, { $1.collectedAt == nil }),
    ]

    @Test("Each filter, and each pair of them, finds what it describes and nothing else")
    func filters() async throws {
        try await fill()
        let all = try await store.history(HistoryFilter(), limit: 1000, after: nil)
        #expect(all.count > 30)
        let times = all.compactMap(\.response?.resolvedAt)
        #expect(times == times.sorted(by: >))
        var sizes: [Int] = []
        for (index, first) in Self.conditions.enumerated() {
            for second in Self.conditions[index...] {
                var filter = HistoryFilter()
                first.set(&filter)
                second.set(&filter)
                let found = try await store.history(filter, limit: 1000, after: nil).map(\.id)
                let expected = all.filter { record in
                    guard let response = record.response else { return false }
                    // The same field set twice keeps the second.
                    let overrides = Self.overrides(first, second)
                    return (overrides || first.holds(record, response))
                        && second.holds(record, response)
                }
                #expect(found == expected.map(\.id), "\(filter)")
                // What has been collected is the store's to know.
                #expect(all.filter(filter.admits).count >= found.count)
                if !filter.uncollected {
                    #expect(all.filter(filter.admits).map(\.id) == found, "\(filter)")
                }
                sizes.append(found.count)
            }
        }
        // The table must not be one of empty sets.
        #expect(sizes.count { $0 > 0 } > sizes.count / 2)
        await store.close()
    }

    private static func overrides(_ first: Condition, _ second: Condition) -> Bool {
        var (one, two) = (HistoryFilter(), HistoryFilter())
        first.set(&one)
        second.set(&two)
        return (one.outcome != nil && two.outcome != nil) || (one.by != nil && two.by != nil)
    }

    @Test("Pages have no gaps and no repeats, though all answers share one millisecond")
    func paging() async throws {
        for index in 0..<25 {
            let id = try await store.ask(.yesNo("\(index)")).id
            // Answered in another order than asked, so that ids don't sort by time.
            if index % 2 == 1 {
                for id in [id, id - 1] { try await store.answer(id, index % 4 / 2) }
            }
        }
        for filter in [HistoryFilter(), HistoryFilter(outcome: .answered), .init(button: "Yes")] {
            let all = try await store.history(filter, limit: 1000, after: nil).map(\.id)
            #expect(all.count == (filter.button == nil ? 24 : 12))
            for length in [1, 4, 5, 24] {
                var pages: [Alert.ID] = []
                var isLast = false
                while !isLast, pages.count <= 24 {
                    let page = try await store.history(filter, limit: length, after: pages.last)
                    pages += page.map(\.id)
                    isLast = page.count < length
                }
                #expect(pages == all)
            }
        }
        await store.close()
    }

    @Test("What waits for a handler comes oldest first, until it is collected")
    func uncollected() async throws {
        func ask(_ handler: String?) async throws -> Alert.ID {
            var alert = Alert.yesNo()
            alert.handler = handler
            return try await store.ask(alert).id
        }
        let mine = [try await ask("mine"), try await ask("mine"), try await ask("mine")]
        _ = try await ask("mine")
        for id in [try await ask("other"), try await ask(nil), mine[1], mine[0], mine[2]] {
            try await store.answer(id, 0)
        }
        let handled = try await ask("mine")
        _ = try await store.resolve(handled, .cancel(handled: true), by: .ana)
        func waiting(after id: Alert.ID = 0, limit: Int = 9) async throws -> [Alert.ID] {
            try await store.page(RecordQuery(.awaitingHandler("mine"), after: id, limit: limit))
                .records.map(\.id)
        }
        #expect(try await waiting() == [mine[1], mine[0], mine[2], handled])
        #expect(try await waiting(limit: 1) == [mine[1]])
        #expect(try await waiting(after: mine[1]) == [mine[0], mine[2], handled])
        #expect(try await store.collect(mine[0], by: .ana))
        #expect(try await waiting() == [mine[1], mine[2], handled])
        #expect(
            try await store.page(RecordQuery(.awaitingHandler("none"), after: 0, limit: 9)).records
                .map(\.id).isEmpty)
        await store.close()
    }
}
