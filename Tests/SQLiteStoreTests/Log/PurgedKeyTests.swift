import AlertCore
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

/// A key outlives the texts that were asked with it, and still belongs to one question only.
@Suite("Purged keys", .inParallel)
struct PurgedKeyTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// A question whose first id is its label, and so is erased with it.
    private static var original: Alert {
        var alert = Alert(
            "Restart the server?", message: "It takes a minute.",
            buttons: ["Yes", .cancel("No", id: "no")], defaultButton: "no", key: "k")
        alert.userInfo = ["unit": "nginx"]
        return alert
    }

    @discardableResult
    private func purge() async throws -> PurgeReport {
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        return try await store.erase(before: now, by: .ana, rewritesFile: true) { _ in }
    }

    private func purged() async throws -> Alert.ID {
        let id = try await store.ask(Self.original).id
        try await store.answer(id, 0)
        _ = try await store.collect(id, by: .ana)
        try await purge()
        #expect(try await store.record(id).isErased)
        return id
    }

    @Test("The same question gets its response")
    func same() async throws {
        let id = try await purged()
        let joined = try await store.ask(Self.original)
        #expect(joined.id == id && joined.response?.buttonIndex == 0)
        // The id was erased with its label; the digest has shown that this is the question.
        #expect(joined.response?.button?.id == "Yes" && joined.alert.title == "Restart the server?")
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("Another question takes its place, and the same one does not")
    func replaced() async throws {
        let id = try await purged()
        var question = Question(alert: Self.original, source: "test", join: .replacing)
        #expect(try await store.enqueue(question, by: .ana).record.id == id)
        question.alert.title = "Delete the server?"
        #expect(try await store.enqueue(question, by: .ana).isNew)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    static let others: [(String, @Sendable (inout Alert) -> Void)] = [
        ("title", { $0.title = "Delete the server?" }),
        ("message", { $0.message = "It takes everything." }),
        ("no message", { $0.message = nil }),
        ("style", { $0.style = .actionSheet }),
        ("label", { $0.buttons[1] = .cancel("Never", id: "no") }),
        ("id that was the label", { $0.buttons[0] = Alert.Button("Delete") }),
        ("role", { $0.buttons[0] = .destructive("Yes") }),
        ("another button", { $0.buttons.append("Later") }),
        ("default button", { $0.defaultButton = "Yes" }),
        ("info", { $0.userInfo = ["unit": "postgresql"] }),
    ]

    @Test("A different question is a conflict, whatever its buttons", arguments: others.indices)
    func another(index: Int) async throws {
        _ = try await purged()
        var alert = Self.original
        Self.others[index].1(&alert)
        let error = await thrown { [alert] in try await store.ask(alert) }
        #expect(error?.kind == "keyConflict", "\(Self.others[index].0): \(error as Any)")
        await store.close()
    }

    @Test("Parts that are not compared for a key may differ")
    func priority() async throws {
        let id = try await purged()
        var alert = Self.original
        alert.priority = .critical
        alert.deadline = .after(.seconds(5))
        #expect(try await store.ask(alert).id == id)
        await store.close()
    }

    @Test("A row whose hash or remaining parts were changed is refused")
    func forged() async throws {
        let id = try await purged()
        let original = try queue.connection()
        let detail = try #require(
            try original.first("SELECT detail FROM audit WHERE event = 'asked'") { $0.text() })
        for script in [
            "UPDATE alerts SET erased_seq = 1", "UPDATE alerts SET erased_seq = NULL",
            "UPDATE alerts SET buttons = replace(buttons, 'no', 'yes')",
            #"UPDATE audit SET detail = replace(detail, '"key"', '"kex"')"#,
        ] {
            try queue.forge(script)
            let error = await thrown { try await store.ask(Self.original) }
            #expect(error?.kind == "inconsistent", "\(script): \(error as Any)")
            try queue.forge(
                """
                UPDATE alerts SET buttons = replace(buttons, '"yes"', '"no"');
                UPDATE alerts SET erased_seq = (SELECT seq FROM audit WHERE event = 'erased');
                UPDATE audit SET detail = '\(detail)' WHERE event = 'asked'
                """)
        }
        #expect(try await store.ask(Self.original).id == id)
        await store.close()
    }

    /// Appends an entry of an erasure, with the hash of the current rows, as any process can that
    /// can write the file.
    private func appendErasure(of id: Alert.ID) async throws {
        try await store.writes.perform(.upkeep, "forge") { context in
            var entry = AuditDraft(kind: .erased)
            entry.detail = .erased(ErasedAlerts([id]))
            try context.audit(entry, by: .ben)
            try context.db.run("UPDATE alerts SET erased_seq = ?", .integer(context.head.sequence))
        }
    }

    static let erasures: [(buttons: String, isCollected: Bool, isRefused: Bool)] = [
        (#"[{},{"id":"no","role":"cancel"}]"#, true, false),
        (#"[{},{"id":"no","role":"cancel"}]"#, false, true),
        (#"[{"id":"no","role":"cancel"},{}]"#, true, true),
        (#"[{},{"id":"no"}]"#, true, true),
        (#"[{"title":"Delete"},{"id":"no","role":"cancel"}]"#, true, true),
    ]

    @Test(
        "A forged erasure entry can't give an alert other buttons or another question",
        arguments: erasures)
    func appended(buttons: String, isCollected: Bool, isRefused: Bool) async throws {
        let id = try await store.ask(Self.original).id
        try await store.answer(id, 0)
        if isCollected { _ = try await store.collect(id, by: .ana) }
        try queue.forge(
            """
            UPDATE alerts SET title = NULL, message = NULL, info = '{}', salt = NULL,
                buttons = '\(buttons)'
            """)
        var other = Self.original
        other.title = "Delete the server?"
        try await appendErasure(of: id)
        let read = await thrown { try await store.record(id) }
        #expect((read != nil) == isRefused, "\(read as Any)")
        let same = await thrown { try await store.ask(Self.original) }
        #expect((same != nil) == isRefused, "\(same as Any)")
        let joined = await thrown { [other] in try await store.ask(other) }
        #expect(joined?.kind == (isRefused ? "inconsistent" : "keyConflict"))
        let report = try await store.verify(expecting: nil)
        #expect(report.problems.isEmpty != isRefused, "\(report.problems)")
        await store.close()
    }

    @Test("An alert that the log contradicts keeps its texts as evidence")
    func evidence() async throws {
        let id = try await store.ask(Self.original).id
        try await store.answer(id, 0)
        _ = try await store.collect(id, by: .ana)
        try queue.forge("UPDATE alerts SET title = 'Something else?'")
        let report = try await purge()
        #expect(report.erased == 0 && report.contradicted == 1)
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE salt IS NOT NULL") == 1)
        await store.close()
    }
}
