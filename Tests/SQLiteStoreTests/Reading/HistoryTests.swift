import AlertCore
import Foundation
import StoreTesting
import TestSupport
import Testing
import TextFormats

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
            _ = try await store.expire(id)
            if index % 5 == 0 { _ = try await store.collect(id, by: .ben) }
        }
    }

    private typealias Condition = (
        set: @Sendable (inout HistoryFilter) -> Void,
        holds: @Sendable (AlertRecord, Response) -> Bool
    )

    private static let conditions: [Condition] = [
        ({ $0.source = "backup-0" }, { record, _ in record.source.name == "backup-0" }),
        ({ $0.asker = .account(.current) }, { record, _ in record.source.account == .current }),
        ({ $0.key = "key-9" }, { record, _ in record.alert.key == "key-9" }),
        ({ $0.outcome = .answered }, { $1.outcome == .answered }),
        ({ $0.outcome = .expired }, { $1.outcome == .expired }),
        ({ $0.button = "No" }, { $1.button?.id == "No" }),
        ({ $0.by = .person }, { $1.by == .person }),
        ({ $0.by = .policy }, { $1.by == .policy }),
        ({ $0.user = "ana" }, { $1.responder?.account?.name == "ana" }),
        ({ $0.via = "answer" }, { $1.responder?.via == "answer" }),
        ({ $0.since = middle }, { $1.resolvedAt >= middle }),
        ({ $0.until = middle }, { $1.resolvedAt < middle }),
        ({ $0.uncollected = true }, { $1.collectedAt == nil }),
    ]

    @Test("Each filter, and each pair of filters, finds exactly the matching responses")
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
                // Only the store knows what has been collected.
                #expect(all.filter(filter.admits).count >= found.count)
                if !filter.uncollected {
                    #expect(all.filter(filter.admits).map(\.id) == found, "\(filter)")
                }
                sizes.append(found.count)
            }
        }
        // Most of the sets must not be empty.
        #expect(sizes.count { $0 > 0 } > sizes.count / 2)
        await store.close()
    }

    private static func overrides(_ first: Condition, _ second: Condition) -> Bool {
        var (one, two) = (HistoryFilter(), HistoryFilter())
        first.set(&one)
        second.set(&two)
        return (one.outcome != nil && two.outcome != nil) || (one.by != nil && two.by != nil)
    }

    @Test("Pages have no gaps and no repeats, even if all answers share one millisecond")
    func paging() async throws {
        for index in 0..<25 {
            let id = try await store.ask(.yesNo("\(index)")).id
            // Answered in a different order than asked, so that ids don't sort by time.
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

    @Test("A filter with many sources or many uncollected responses finds the same")
    func limits() async throws {
        try await fill()
        let db = try queue.connection()
        for filter in [HistoryFilter(asker: .account(.current)), .init(uncollected: true)] {
            let found = { (limit: Int) in
                var walk = HistoryWalk(db: db, filter)
                (walk.sourceLimit, walk.uncollectedLimit) = (limit, limit)
                return try walk.look(after: nil, limit: 100).found.map(\.id)
            }
            let all = try await store.history(filter, limit: 100, after: nil).map(\.id)
            #expect(all.count > 10)
            for limit in [0, 1, 100] { #expect(try found(limit) == all) }
        }
        await store.close()
    }

    @Test("Times that somebody has set as far as they go make no page repeat or end too early")
    func extremeTimes() async throws {
        for index in 0..<5 { try await store.answer(try await store.ask(.yesNo("\(index)")).id, 0) }
        for time in [Int64.max, .min] {
            try queue.forge("UPDATE alerts SET resolved_ms = \(time) WHERE id > 2")
            var pages: [Alert.ID] = []
            while pages.count < 9,
                let record = try await store.history(
                    HistoryFilter(), limit: 1, after: pages.last
                ).first
            { pages.append(record.id) }
            #expect(pages == (time > 0 ? [5, 4, 3, 2, 1] : [2, 1, 5, 4, 3]))
        }
        await store.close()
    }

    @Test("A response whose entry is said to be far ahead, or that can't be read, hides no others")
    func unreadable() async throws {
        for index in 0..<4 { try await store.answer(try await store.ask(.yesNo("\(index)")).id, 0) }
        try queue.forge("UPDATE alerts SET resolved_seq = 9223372036854775807 WHERE id = 1")
        try queue.forge("UPDATE alerts SET buttons = '[' WHERE id = 3")
        let query = RecordQuery(.awaitingHook(HistoryFilter()), after: 0, limit: 9)
        let page = try await store.page(query)
        #expect(page.records.map(\.id) == [2, 4])
        #expect(page.next == 8)
        let db = try queue.connection()
        try db.execute("PRAGMA trusted_schema = ON")
        let rows = try db.rows("SELECT id, button FROM history ORDER BY id") {
            "\($0.integer()) \($0.optionalText(at: 1) ?? "-")"
        }
        #expect(rows == ["1 Yes", "2 Yes", "3 -", "4 Yes"])
        await store.close()
    }

    @Test("Responses for a handler come oldest first, until they are collected")
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
