import AlertCore
import Foundation
import SQLite
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

/// A process that can write the file can't make an asker get a response that the log contradicts.
@Suite("Returned responses", .inParallel)
struct ToldResponseTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// A change by a forger to an alert that was asked with a key and answered "No".
    struct Forgery: CustomTestStringConvertible {
        let name: String
        let script: String
        var testDescription: String { name }
        /// A process that wrote an entry, and finds it changed, writes nothing more.
        var endsWrites: Bool { script.contains("audit") }
    }

    static let forgeries = [
        Forgery(name: "another button", script: "UPDATE alerts SET button_index = 0"),
        Forgery(name: "another outcome", script: "UPDATE alerts SET outcome = 'expired'"),
        Forgery(name: "another resolver", script: "UPDATE alerts SET resolved_by = 'policy'"),
        Forgery(
            name: "another person",
            script: "UPDATE alerts SET responder = '7', responder_name = 'eve'"),
        Forgery(
            name: "a person without an account",
            script: """
                UPDATE alerts SET responder = 'person:eve', responder_name = 'person:eve',
                    responder_means = 'device:phone', responder_host = NULL, responder_pid = NULL
                """),
        Forgery(name: "nobody", script: "UPDATE alerts SET responder = NULL"),
        Forgery(name: "no presenter", script: "UPDATE alerts SET via = NULL"),
        Forgery(name: "another terminal", script: "UPDATE alerts SET tty = '/dev/pts/9'"),
        Forgery(name: "another time", script: "UPDATE alerts SET resolved_ms = resolved_ms + 1"),
        Forgery(name: "the entry of its ask", script: "UPDATE alerts SET resolved_seq = 1"),
        Forgery(
            name: "other labels",
            script: """
                UPDATE alerts SET buttons = replace(replace(replace(buttons, 'Yes', 'x'), 'No', \
                'Yes'), 'x', 'No')
                """),
        Forgery(name: "another title", script: "UPDATE alerts SET title = 'Delete nothing?'"),
        Forgery(name: "other strings", script: #"UPDATE alerts SET info = '{"path":"/"}'"#),
        Forgery(name: "another source", script: "UPDATE sources SET principal = '7'"),
        Forgery(name: "another asker", script: "UPDATE alerts SET pid = pid + 1"),
        Forgery(
            name: "texts that look erased",
            script: """
                UPDATE alerts SET title = NULL, message = NULL, info = '{}', salt = NULL,
                    buttons = '[{"id":"Yes"},{"id":"No","role":"cancel"}]'
                """),
        Forgery(
            name: "an entry that was changed, too",
            script: """
                UPDATE alerts SET button_index = 0;
                UPDATE audit SET button_index = 0, button_role = NULL WHERE event = 'resolved'
                """),
        Forgery(
            name: "no entry", script: "UPDATE audit SET event = 'seen' WHERE event = 'resolved'"),
        Forgery(
            name: "a second entry",
            script: """
                UPDATE alerts SET button_index = 0;
                INSERT INTO audit SELECT seq + 1, at_ms, event, alert_id, source, outcome, 0, NULL,
                    resolved_by, principal, user, login_uid, session, via, tty, ssh, means,
                    host, boot, pid, content, detail, hash, hash FROM audit WHERE event = 'resolved'
                """),
    ]

    private func answered(by reference: String = "k") async throws -> Alert.ID {
        let id = try await store.ask(.yesNo("Delete?", key: reference)).id
        try await store.answer(id, 1)
        return id
    }

    @Test("A response that differs from the log is never returned", arguments: forgeries)
    func response(_ forgery: Forgery) async throws {
        let id = try await answered()
        // Before and after the forgery, the asker gets what was answered.
        #expect(try await store.record(id).response?.button?.id == "No")
        try queue.forge(forgery.script)
        let other = try await queue.store(clock: clock)
        for store in [store, other] {
            #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
            for error in [
                await thrown { try await store.expire(id) },
                await thrown { try await store.answer(id, 0) },
            ] {
                let isEnd = forgery.endsWrites && store !== other && error?.kind == "storage"
                #expect(error?.kind == "inconsistent" || isEnd, "\(forgery.name): \(error as Any)")
            }
            // No source of another account has this key.
            guard forgery.name != "another source" else { continue }
            let joined = await thrown { try await store.ask(.yesNo("Delete?", key: "k")) }
            #expect(joined?.kind == "inconsistent")
        }
        let responses = try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL")
        #expect(responses == 1)
        await other.close()
        await store.close()
    }

    @Test(
        "The history marks a response that differs from the log, and no other", arguments: forgeries
    )
    func history(_ forgery: Forgery) async throws {
        let id = try await answered()
        let other = try await store.ask(.yesNo("Other?")).id
        try await store.answer(other, 0)
        let before = try await store.history(HistoryFilter(), limit: 9)
        #expect(before.map(\.isContradicted) == [false, false])
        try queue.forge(forgery.script.replacing("seq + 1,", with: "seq + 4,"))
        let reader = try await queue.store(clock: clock)
        let after = try await reader.history(HistoryFilter(), limit: 9)
        #expect(after.first { $0.id == id }?.isContradicted == true)
        #expect(try await reader.history(HistoryFilter(), limit: 9).count == 2)
        await reader.close()
        await store.close()
    }

    @Test("The history marks no response that was erased, superseded, stale or collected")
    func uncontradicted() async throws {
        let first = try await answered()
        #expect(try await store.collect(first, by: .ana))
        clock.advance(by: .seconds(60))
        let limit = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        let report = try await store.erase(
            before: limit, by: .ana, rewritesFile: false, progress: { _ in })
        #expect(report.erased == 1)
        _ = try await answered(by: "k2")
        let records = try await store.history(HistoryFilter(), limit: 9)
        #expect(records.map(\.isContradicted) == [false, false])
        #expect(records.map(\.isErased) == [false, true])
        try queue.forge("UPDATE alerts SET button_index = 0 WHERE id = \(first)")
        let forged = try await store.history(HistoryFilter(), limit: 9)
        #expect(forged.map(\.isContradicted) == [false, true])
        await store.close()
    }

    @Test("A response without an entry is never returned, and its alert can't be answered")
    func inserted() async throws {
        let id = try await store.ask(.yesNo("Delete?", key: "k")).id
        try queue.forge("UPDATE alerts SET \(ForgedRow.answered) WHERE id = \(id)")
        #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        #expect(await thrown { try await store.answer(id, 1) }?.kind == "inconsistent")
        let joined = await thrown { try await store.ask(.yesNo("Delete?", key: "k")) }
        #expect(joined?.kind == "inconsistent")
        await store.close()
    }

    @Test("A response is collected only once, even if a forger reset that in its row")
    func collectedTwice() async throws {
        let id = try await answered()
        #expect(try await store.collect(id, by: .ana))
        try queue.forge("UPDATE alerts SET collected_ms = NULL")
        let error = await thrown { try await store.collect(id, by: .ana) }
        #expect(error?.kind == "inconsistent")
        #expect(try queue.integer("SELECT count(*) FROM audit WHERE event = 'collected'") == 1)
        await store.close()
    }

    @Test("An id that was assigned before is not assigned to another alert")
    func numberAgain() async throws {
        let id = try await answered()
        try queue.forge("DELETE FROM alerts; UPDATE sources SET pending = 0")
        let error = await thrown { try await store.ask(.yesNo("Drop the database?")) }
        #expect(error?.description.contains("number \(id)") == true, "\(error as Any)")
        await store.close()
    }

    @Test("An alert with two entries of its ask is never returned")
    func askedTwice() async throws {
        let id = try await answered()
        try await store.writes.perform(.upkeep, "forge") { context in
            let row = try #require(try context.db.alert(id))
            let text = try #require(
                try context.db.first("SELECT detail FROM audit") { $0.text() })
            let detail = EntryDetail(text, of: .asked, nil)
            try context.audit(
                AuditDraft(
                    kind: .asked, record: row.record, content: row.content, detail: detail),
                by: .ana)
        }
        let error = await thrown { try await store.record(id) }
        #expect(error?.description.contains("was already asked by entry") == true)
        await store.close()
    }

    @Test("Events of a changed entry are never returned")
    func events() async throws {
        let id = try await answered()
        let start = LogPosition(.start)
        #expect(try await store.news(after: start, of: .everybody).events.count == 2)
        try queue.forge("UPDATE audit SET button_index = 0 WHERE event = 'resolved'")
        let error = await thrown {
            try await store.news(after: start, of: .everybody)
        }
        guard case .inconsistent(id, _) = error else {
            Issue.record("\(error as Any)")
            return
        }
        // Readers that only need to know that something has happened continue.
        let other = try await queue.store()
        #expect(try await other.news(after: start, of: .others).events.count == 2)
        await other.close()
        await store.close()
    }

    @Test(
        "An alert whose response was deleted, or a part of it, does not get a second one",
        arguments: [ForgedRow.waiting, "outcome = NULL"])
    func removed(assignment: String) async throws {
        let id = try await answered()
        try queue.forge("UPDATE alerts SET \(assignment)")
        #expect(await thrown { try await store.answer(id, 0) }?.kind == "inconsistent")
        #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        let next = try await store.next(ScreenQuery(for: ["test"]))
        #expect(next.record == nil && next.refused.keys.map { $0 } == [id])
        await store.close()
    }

    static let swaps = [
        "title = 'Keep?'", "message = 'Nothing is lost'", "style = 'actionSheet'",
        "buttons = replace(buttons, 'Yes', 'Never')", "default_button = 'Yes'", "priority = 3",
        "handler = 'delete'", #"presenters = '["test"]'"#, "key = 'other'",
        "expires_ms = expires_ms - 1", "expires_boot_ms = expires_boot_ms - 1",
        "expires_ms = NULL, expires_boot_ms = NULL", "dismiss_after_ms = 1", "snooze_ms = 1",
        "boot = 'other'", "asked_boot_ms = 0", "asked_ms = 0",
        // A part of a response.
        "button_index = 0", "handled = 0", "responder_name = 'eve'", "resolved_seq = 1",
    ]

    @Test(
        "An alert that differs from what was asked is neither shown nor answered nor expired",
        arguments: swaps)
    func question(assignment: String) async throws {
        let id = try await store.ask(.yesNo("Delete?", deadline: .after(.seconds(60)))).id
        let good = try await store.ask(.yesNo("Good?")).id
        try queue.forge("UPDATE alerts SET \(assignment) WHERE id = \(id)")
        let next = try await store.next(ScreenQuery(for: ["test"]))
        // It does not block other alerts.
        #expect(next.record?.id == good)
        #expect(next.refused.keys.map { $0 } == [id])
        #expect(await thrown { try await store.answer(id, 0) }?.kind == "inconsistent")
        #expect(
            await thrown { try await store.snooze(id, for: nil, by: .ana) }?.kind == "inconsistent")
        clock.advance(by: .seconds(120))
        try await store.sweep(atMost: 2)
        #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 0)
        await store.close()
    }

    @Test("An alert with an empty list of presenters can be neither answered nor read")
    func noPresenter() async throws {
        let id = try await store.ask(.yesNo("Delete?")).id
        try queue.forge("UPDATE alerts SET presenters = '[]'")
        #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        #expect(await thrown { try await store.answer(id, 0) }?.kind == "inconsistent")
        await store.close()
    }

    @Test("A title that is swapped and swapped back is shown and answered only as it was asked")
    func swappedBack() async throws {
        let id = try await store.ask(.yesNo("Delete?")).id
        try queue.forge("UPDATE alerts SET title = 'Keep?'")
        #expect(try await store.next(ScreenQuery(for: ["test"])).record == nil)
        #expect(await thrown { try await store.answer(id, 0) }?.kind == "inconsistent")
        try queue.forge("UPDATE alerts SET title = 'Delete?'")
        #expect(try await store.next(ScreenQuery(for: ["test"])).record?.alert.title == "Delete?")
        #expect(try await store.answer(id, 0).response?.button?.id == "Yes")
        await store.close()
    }

    @Test("Alerts that the log contradicts don't prevent others from expiring")
    func sweeping() async throws {
        for _ in 0..<120 { try await store.ask(.yesNo(deadline: .after(.seconds(60)))) }
        try queue.forge("UPDATE alerts SET title = 'Keep?' WHERE id <= 110")
        clock.advance(by: .seconds(120))
        try await store.sweep(atMost: 5)
        let expired = try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL")
        #expect(expired == 10)
        // The others can't be stored, so no process takes the lock for them each second.
        #expect(try await !store.due().isNow)
        await store.close()
    }

    @Test("Any number of alerts that the log contradicts lets the others expire")
    func manyContradicted() async throws {
        let question = Question(alert: .yesNo(deadline: .after(.seconds(60))), source: "test")
        for _ in 0..<6 {
            let asks = [Change](repeating: .ask(question), count: 350)
            for result in try await store.commit(asks, by: .ana) { _ = try result.get() }
        }
        try queue.forge("UPDATE alerts SET title = 'Keep?' WHERE id <= 2050")
        clock.advance(by: .seconds(120))
        #expect(
            try await eventually {
                _ = try await store.applyDeadlines()
                return try queue.integer(
                    "SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 50
            })
        await store.close()
    }

    @Test("A request to cancel only counts if an intact entry of the log records it")
    func cancelRequest() async throws {
        let id = try await store.ask(.yesNo("Delete?")).id
        #expect(try await !store.find(.id(id)).isCancelRequested)
        try await store.requestCancel(id, .own(.program), by: .ana)
        #expect(try await store.find(.id(id)).isCancelRequested)
        try queue.forge("UPDATE audit SET user = 'eve' WHERE event = 'cancelling'")
        #expect(await thrown { try await store.find(.id(id)) }?.kind == "inconsistent")
        // It blocks no other alert.
        let good = try await store.ask(.yesNo("Good?")).id
        let next = try await store.next(ScreenQuery(for: ["test"]))
        #expect(next.record?.id == good && next.refused.keys.map { $0 } == [id])
        await store.close()
    }
}
