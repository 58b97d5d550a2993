import AlertCore
import SQLite
import StoreChecks
import StoreTesting
import Testing
import TextFormats

@testable import SQLiteStore

/// A queue whose log contains every kind of entry except `erased`, created for each test.
struct AuditLog: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// The alerts 1 to 6: answered, answered destructively, withdrawn, expired, cancelled, waiting.
    func fill() async throws {
        let sheet = Alert(
            "Löschen?", message: "Zeile\nzwei 🎉", style: .actionSheet,
            buttons: ["Keep", .destructive("Delete", id: "rm"), .cancel("Later")], key: "k-1",
            handler: "cleanup", userInfo: ["path": "/srv/ünï", "a": ""])
        let ids = [
            try await store.ask(.yesNo("One")).id,
            try await store.ask(sheet, source: "cleaner").id,
            try await store.ask(.yesNo("Three")).id,
            try await store.ask(expiring).id,
            try await store.ask(.yesNo("Five")).id,
            try await store.ask(.yesNo("Six")).id,
        ]
        try #require(ids == [1, 2, 3, 4, 5, 6])
        let first = try await store.record(1)
        store.post(.presented(first), by: .ana)
        _ = try await store.snooze(1, for: nil, by: .ana)
        store.post(.returned(first, because: .failed("the terminal was lost")), by: .ana)
        try await store.answer(1, 0)
        try await store.answer(2, 1, by: .ben)
        _ = try await store.collect(1, by: .ben)
        _ = try await store.resolve(3, .withdraw(), by: .ben)
        clock.advance(by: .seconds(61))
        try await store.sweep(atMost: .max)
        _ = try await store.commit(.claim(6, until: nil, isForced: false), by: .ana)
        _ = try await store.commit(.release(6, isForced: false), by: .ana)
        try await store.requestCancel(5, .own(.program), by: .ben)
        _ = try await store.resolve(5, .cancel(handled: false), by: .ben)
    }

    private var expiring: Alert {
        Alert(
            "Four", buttons: ["Yes", "No"], deadline: .after(.seconds(60)), defaultButton: "No")
    }

    func forge(_ script: String) throws { try queue.forge(script) }

    /// The problem that the verification finds after a forger's script.
    func problem(after script: String) async throws -> AuditReport.Problem {
        try #require(try await store.verify(expecting: nil).problems.isEmpty)
        try forge(script)
        return try #require(try await store.verify(expecting: nil).problems.first)
    }

    /// The alerts 1 to 12, with many kinds of ends and states: erased with and without a key,
    /// expired, expired because nobody was there, cancelled and handled, cancelled and simulated,
    /// snoozed, about to be cancelled, dismissed, answered after a snooze, withdrawn, snooze ended.
    func fillRichly() async throws {
        let boss = Caller(.person("boss"), via: "inbox", means: .device("phone"))
        for key in ["k", nil] {
            let old = try await store.ask(
                Alert("Old", buttons: ["Yes", .cancel("No", id: "no")], key: key, handler: "h"))
            try await store.answer(old.id, key == nil ? 1 : 0, by: key == nil ? .ana : boss)
            _ = try await store.collect(old.id, by: .ana)
        }
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        try #require(
            try await store.erase(before: now, by: .ben, rewritesFile: true) { _ in }.erased == 2)
        for seconds in [60, 9 * 86_400] {
            try await store.ask(
                Alert(
                    "Expires", buttons: ["Yes", "No"], deadline: .after(.seconds(seconds)),
                    defaultButton: "No"))
        }
        for index in 5...12 {
            try await store.ask(index == 9 ? Alert("Notice") : .yesNo("Question \(index)"))
        }
        try await snoozeAndEnd()
        let waiting = try await store.pending(limit: 100).map(\.id)
        try #require(waiting == [8, 12, 7])
    }

    private func snoozeAndEnd() async throws {
        for id in [10, 12] as [Alert.ID] {
            _ = try await store.snooze(id, for: .seconds(9), by: .ana)
        }
        clock.advance(by: .seconds(61))
        try await store.sweep(atMost: .max)
        _ = try await store.resolve(4, .expireUnattended, by: .ben)
        try await store.requestCancel(5, .own(.program), by: .ben)
        _ = try await store.resolve(5, .cancel(handled: true, .requested), by: .ana)
        _ = try await store.resolve(6, .cancel(handled: false), by: .ben)
        for _ in 0..<2 {
            store.post(.presented(try await store.record(7)), by: .ana)
            clock.advance(by: .seconds(1))
        }
        _ = try await store.snooze(7, for: nil, by: .ana)
        try await store.requestCancel(8, .own(.program), by: .ben)
        _ = try await store.resolve(9, .dismiss, by: .ana)
        try await store.answer(10, 0)
        _ = try await store.collect(10, by: .ana)
        _ = try await store.resolve(11, .withdraw(), by: .ben)
    }
}
