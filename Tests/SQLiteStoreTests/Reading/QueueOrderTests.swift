import AlertCore
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Order of the queue", .inParallel)
struct QueueOrderTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    private func next(_ presenters: String..., own: [Alert.ID] = []) async throws -> Alert.ID? {
        try await store.next(ScreenQuery(for: presenters, own: own)).record?.id
    }

    @Test("Priority comes first, then age")
    func priorities() async throws {
        for priority in [Alert.Priority.low, .normal, .critical, .high, .critical, .low] {
            try await store.ask(.yesNo(priority: priority))
        }
        let order: [Alert.ID] = [3, 5, 4, 2, 1, 6]
        #expect(try await store.pending(limit: 9).map(\.id) == order)
        #expect(try await store.pending(limit: 2).map(\.id) == [3, 5])
        for id in order {
            #expect(try await next("x") == id)
            try await store.answer(id, 0)
        }
        #expect(try await next("x") == nil)
        await store.close()
    }

    @Test(
        "An alert that has waited for hours counts that many priorities higher",
        arguments: zip([1, 2, 3, 1000], [Alert.Priority.normal, .high, .critical, .critical]))
    func ageing(hours: Int64, rival: Alert.Priority) async throws {
        let low = try await store.ask(.yesNo(priority: .low)).id
        clock.advance(by: .seconds(min(hours, 3) * 3600) - .milliseconds(1))
        let urgent = try await store.ask(.yesNo(priority: rival)).id
        #expect(try await next("x") == urgent)
        clock.advance(by: .milliseconds(1))
        #expect(try await next("x") == low)
        #expect(try await store.pending(limit: 9).map(\.id) == [low, urgent])
        // A year on the wall clock does not count as waiting.
        clock.setWall(milliseconds: 0)
        #expect(try await next("x") == low)
        await store.close()
    }

    @Test("A closed alert keeps its position")
    func snoozedAge() async throws {
        let first = try await store.ask(.yesNo()).id
        let second = try await store.ask(.yesNo()).id
        _ = try await store.snooze(first, for: .seconds(60), by: .ana)
        #expect(try await next("x") == second)
        #expect(try await store.pending(limit: 9).map(\.id) == [second, first])
        clock.advance(by: .seconds(60))
        try await store.sweep(atMost: .max)
        #expect(try await next("x") == first)
        await store.close()
    }

    @Test("An alert for other screens does not hold up those after it")
    func presenters() async throws {
        var forWeb = Alert.yesNo(priority: .critical)
        forWeb.presenters = ["web", "desktop"]
        for _ in 0..<20 { try await store.ask(forWeb) }
        let forAll = try await store.ask(.yesNo(priority: .low)).id
        #expect(try await next("terminal") == forAll)
        #expect(try await next("terminal", "desktop") == 1)
        #expect(try await next() == nil)
        try await store.answer(forAll, 0)
        #expect(try await next("terminal") == nil)
        await store.close()
    }

    @Test("An alert that a screen shows alone comes before all others, unless it is snoozed")
    func only() async throws {
        try await store.ask(.yesNo(priority: .critical))
        let wanted = try await store.ask(.yesNo(priority: .low)).id
        #expect(try await next(own: [wanted]) == wanted)
        _ = try await store.snooze(wanted, for: nil, by: .ana)
        #expect(try await next(own: [wanted]) == nil)
        #expect(try await next(own: [99]) == nil)
        await store.close()
    }
}
