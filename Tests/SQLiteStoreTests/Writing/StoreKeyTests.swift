import AlertCore
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Keys and bounds", .inParallel)
struct StoreKeyTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    private func enqueue(_ alert: Alert, source: String = "test") async throws -> Receipt {
        try await store.enqueue(Question(alert: alert, source: source), by: Caller(via: "test"))
    }

    static let original = Alert(
        "Apply?", message: "14 updates", buttons: ["Yes", .cancel("No")],
        deadline: .after(.seconds(60)), defaultButton: "No", key: "k", userInfo: ["a": "1"])

    @Test("The same key joins the alert while it waits, and returns its response afterwards")
    func join() async throws {
        let first = try await enqueue(Self.original)
        let second = try await enqueue(Self.original)
        #expect(first.isNew && !second.isNew)
        #expect(second.record.id == first.record.id)
        #expect(second.timeLeft == first.timeLeft)
        try await store.answer(first.record.id, 0)
        let third = try await enqueue(Self.original)
        #expect(!third.isNew)
        #expect(third.record.response?.button?.id == "Yes")
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 1)
        #expect(
            try await store.find(.key("k", source: "test", of: Caller.ana.principal)).record.id
                == first.record.id)
        await store.close()
    }

    @Test("A key whose deadline has passed returns the expiry, stored or not")
    func expired() async throws {
        let first = try await enqueue(Self.original)
        clock.advance(by: .seconds(60))
        #expect(try await enqueue(Self.original).record.response?.outcome == .expired)
        try await store.sweep(atMost: .max)
        let again = try await enqueue(Self.original)
        #expect(again.record.id == first.record.id)
        #expect(again.record.response?.button?.id == "No")
        await store.close()
    }

    static let conflicts: [(String, @Sendable (inout Alert) -> Void)] = [
        ("title", { $0.title = "Apply" }),
        ("message", { $0.message = nil }),
        ("style", { $0.style = .actionSheet }),
        ("label", { $0.buttons[0] = .init("Yes!", id: "Yes") }),
        ("id", { $0.buttons[0] = .init("Yes", id: "y") }),
        ("role", { $0.buttons[0] = .destructive("Yes") }),
        ("order", { $0.buttons.reverse() }),
        ("another button", { $0.buttons.append("Maybe") }),
        ("default", { $0.defaultButton = "Yes" }),
        ("no default", { $0.defaultButton = nil }),
        ("info", { $0.userInfo = ["a": "2"] }),
        ("no userInfo", { $0.userInfo = [:] }),
    ]

    @Test("Different content under a known key is a conflict", arguments: conflicts.indices)
    func conflict(index: Int) async throws {
        let (name, change) = Self.conflicts[index]
        let first = try await enqueue(Self.original).record.id
        var other = Self.original
        change(&other)
        for isResolved in [false, true] {
            if isResolved { try await store.answer(first, 1) }
            let error = await thrown { try await enqueue(other) }
            guard case .keyConflict("k", first, _)? = error else {
                Issue.record("\(name): \(String(describing: error))")
                continue
            }
        }
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 1)
        await store.close()
    }

    @Test("Timers, priority, handlers and presenters are the first asker's, and don't conflict")
    func noConflict() async throws {
        let first = try await enqueue(Self.original)
        var other = Self.original
        other.priority = .critical
        other.deadline = .after(.seconds(5))
        other.snooze = .seconds(5)
        other.handler = "h"
        other.presenters = ["web"]
        other.buttons = other.buttons.map { .init($0.title, id: $0.id, role: $0.role) {} }
        let second = try await enqueue(other)
        #expect(!second.isNew)
        #expect(second.record.alert.priority == .normal)
        #expect(second.record.alert.handler == nil)
        #expect(second.timeLeft == first.timeLeft)
        await store.close()
    }

    @Test("The same key of another source or another user belongs to a different alert")
    func sources() async throws {
        let first = try await enqueue(Self.original).record.id
        let second = try await enqueue(Self.original, source: "other").record.id
        var someone = Caller(via: "test")
        someone.principal = .account(Account(uid: 1001))
        let third = try await store.enqueue(
            Question(alert: Self.original, source: "test"), by: someone)
        #expect(Set([first, second, third.record.id]).count == 3)
        let error = await thrown {
            try await store.find(.key("k", source: "third", of: .account(.current)))
                .record
        }
        #expect(error?.kind == "keyNotFound")
        await store.close()
    }

    @Test("Many concurrent asks with one key create one alert")
    func race() async throws {
        let other = try await queue.store(clock: clock)
        let results = try await withThrowingTaskGroup(of: Receipt.self) { group in
            for index in 0..<40 {
                let store = index.isMultiple(of: 2) ? store : other
                group.addTask {
                    try await store.enqueue(
                        Question(alert: Self.original, source: "test"), by: Caller(via: "test"))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(results.map(\.record.id)).count == 1)
        #expect(results.count { $0.isNew } == 1)
        #expect(try queue.integer("SELECT pending FROM sources") == 1)
        await store.close()
        await other.close()
    }

    @Test("Only the source with too many waiting alerts is refused")
    func limit() async throws {
        for index in 0..<3 { try await store.ask(.yesNo(key: "\(index)"), limit: 3) }
        let error = await thrown { try await store.ask(.yesNo(), limit: 3) }
        guard case .tooManyPending("test", 3)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // Asking again with the same key adds no alert.
        try await store.ask(.yesNo(key: "1"), limit: 3)
        try await store.ask(.yesNo(), source: "other", limit: 3)
        try await store.answer(2, 0)
        try await store.ask(.yesNo(), limit: 3)
        #expect(await thrown { try await store.ask(.yesNo(), limit: 3) } != nil)
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 5)
        await store.close()
    }
}
