import AlertQueueTesting
import SQLite
import Testing

@testable import AlertQueue

/// A queue with a log that holds every kind of entry but `erased`, made once a test.
struct AuditLog {
    let queue: TemporaryQueue
    let store: SQLiteAlertStore
    let clock = ManualClock()

    init() async throws {
        queue = try TemporaryQueue()
        store = try await queue.store(clock: clock)
    }

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
        store.recordPresented(first, at: clock.now(), by: .ana)
        _ = try await store.snooze(1, for: nil, by: .ana)
        store.recordReturned(first, because: "the terminal was lost", by: .ana)
        try await store.answer(1, 0)
        try await store.answer(2, 1, by: .ben)
        _ = try await store.collectNow(1, by: .ben)
        _ = try await store.resolve(3, .withdraw(.ben))
        clock.advance(by: .seconds(61))
        try await store.sweep(atMost: .max)
        _ = try await store.resolve(5, .cancel(handled: false, .ben))
    }

    private var expiring: Alert {
        Alert(
            "Four", buttons: ["Yes", "No"], deadline: .after(.seconds(60)), defaultButton: "No")
    }

    /// What a forger with write access does: the triggers go first.
    func forge(_ script: String) throws {
        let db = try queue.connection()
        try db.execute("PRAGMA foreign_keys = OFF")
        let triggers = try db.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
            $0.text(0)
        }
        for trigger in triggers { try db.execute("DROP TRIGGER \(trigger)") }
        try db.execute(script)
    }

    /// What the verification says after a forger's script.
    func problem(after script: String) async throws -> AuditReport.Problem {
        try #require(try await store.verifyAudit(expecting: nil).problems.isEmpty)
        try forge(script)
        return try #require(try await store.verifyAudit(expecting: nil).problems.first)
    }
}
