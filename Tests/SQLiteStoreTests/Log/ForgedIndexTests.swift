import AlertCore
import Foundation
import SQLite
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// An index that leads to wrong rows must not make anyone get a result that the log contradicts.
@Suite("Forged indexes", .inParallel)
struct ForgedIndexTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    private func answered(by reference: String = "k") async throws -> Alert.ID {
        let id = try await store.ask(.yesNo("Delete?", key: reference)).id
        try await store.answer(id, 1)
        return id
    }

    @Test("A key never finds another alert, even with a forged index")
    func key() async throws {
        let id = try await answered()
        let other = try await store.ask(.yesNo("Delete?", key: "j")).id
        try await store.answer(other, 0)
        let assign = { (mine: String, its: String) in
            """
            UPDATE alerts SET key = 'x' WHERE id = \(id);
            UPDATE alerts SET key = '\(its)' WHERE id = \(other);
            UPDATE alerts SET key = '\(mine)' WHERE id = \(id);
            """
        }
        try queue.forge(
            """
            \(assign("j", "k"))
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'WHERE', 'WHERE 0 AND')
                WHERE name = 'alerts_key';
            PRAGMA writable_schema = RESET;
            \(assign("k", "j"))
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'WHERE 0 AND', 'WHERE')
                WHERE name = 'alerts_key';
            PRAGMA writable_schema = RESET
            """)
        #expect(try await store.record(id).alert.key == "k")
        for error in [
            await thrown { try await store.ask(.yesNo("Delete?", key: "k")) },
            await thrown {
                try await store.find(
                    .key("k", source: "test", of: .account(.current))
                ).record
            },
        ] {
            #expect(error?.kind == "inconsistent", "\(error as Any)")
        }
        await store.close()
    }

    @Test("An entry of another alert is ignored, no matter where an index has it")
    func foreignEntries() async throws {
        let docs = try await store.ask(.yesNo("Deploy the docs?")).id
        try await store.answer(docs, 0)
        let drop = try await store.ask(.yesNo("Drop the database?")).id
        for _ in 0..<2 { _ = try await store.snooze(drop, for: nil, by: .ana) }
        await store.close()
        let index = try IndexPage("audit_alert", of: queue)
        // SQLite seeks the first entry of an alert, and reads on until it meets a greater number.
        try index.reorder([3, 0, 4, 1, 2])
        try queue.forge(
            """
            UPDATE alerts SET (title, buttons, salt, asked_ms, asked_boot_ms, snoozes, snoozed_ms,
                snoozed_boot_ms, snoozed_boot, outcome, button_index, resolved_by, handled,
                responder, responder_name, via, tty, ssh, responder_host, responder_pid, resolved_ms,
                resolved_seq) = (SELECT title, buttons, salt, asked_ms, asked_boot_ms, snoozes,
                NULL, NULL, NULL, outcome, button_index, resolved_by, handled, responder,
                responder_name, via, tty, ssh, responder_host, responder_pid, resolved_ms, resolved_seq
                FROM alerts WHERE id = \(docs)) WHERE id = \(drop)
            """)
        let next = try await queue.store(clock: clock)
        let error = await thrown { try await next.record(drop) }
        #expect(error?.description.contains("not about it") == true, "\(error as Any)")
        #expect(try await !next.verify(expecting: nil).problems.isEmpty)
        await next.close()
    }

    @Test("An index in the wrong order is found, although its contents are right")
    func disorder() async throws {
        for _ in 0..<2 { _ = try await answered(by: "\(UUID())") }
        await store.close()
        for name in ["audit_alert", "alerts_outcome"] {
            for isForged in [true, false] {
                let index = try IndexPage(name, of: queue)
                try index.reorder(isForged ? [1, 0] + (2..<index.count) : Array(0..<index.count))
                let store = try await queue.store(clock: clock)
                let problems = try await store.verify(expecting: nil).problems
                #expect(problems.isEmpty != isForged, "\(name)")
                await store.close()
                if isForged { try index.restore() }
            }
        }
    }
}
