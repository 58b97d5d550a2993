import AlertQueueTesting
import AlertTables
import Foundation
import SQLite
import StoreChecks
import Testing
import TextFormats

@testable import AlertCore
@testable import SQLiteStore

/// A small queue with every kind of row, which is edited and then queried.
struct EditedQueue {
    let directory: String
    let clock: ManualClock
    var path: String { directory + "/queue.db" }

    private static let asker = Caller(via: "test")
    private static let ana = Caller(
        Account(uid: geteuid(), name: "ana"), loginUID: 1001, session: 7, via: "terminal",
        tty: "/dev/pts/3", ssh: "192.0.2.7", process: ProcessIdentity(host: "desk", pid: 4711))

    init(_ reading: ClockReading? = nil) throws {
        clock = reading.map { ManualClock($0) } ?? ManualClock()
        // In memory if possible: nothing here has to outlive the test.
        let isThere = FileManager.default.isWritableFile(atPath: "/dev/shm")
        let parent = isThere ? "/dev/shm" : FileManager.default.temporaryDirectory.path
        directory = "\(parent)/alertq-edit-\(UUID())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    func store() async throws -> SQLiteAlertStore {
        try await SQLiteAlertStore.open(path: path, clock: clock)
    }

    // MARK: - Contents

    private static func question(_ title: String, key: String? = nil, handler: String? = nil)
        -> Alert
    {
        Alert(
            title, message: "Really?",
            buttons: ["Yes", .destructive("Delete", id: "rm"), .cancel("No", id: "no")],
            key: key, handler: handler, userInfo: ["path": "/srv"])
    }

    private static func expiring(_ seconds: Int, key: String? = nil) -> Alert {
        Alert(
            "Expires", buttons: ["Yes", "No"], deadline: .after(.seconds(seconds)),
            defaultButton: "No", key: key)
    }

    /// The alerts that are asked again to query their keys.
    static let keyed = [
        question("Old", key: "old"), question("Open", key: "open"), question("Done", key: "done"),
        expiring(60, key: "late"),
    ]

    /// Fills the queue; returns the head of its log, as a user would save it elsewhere.
    func fill() async throws -> AuditHead {
        let store = try await store()
        for alert in [Self.keyed[0], Self.question("Old, too", handler: "h"), Alert("Notice")] {
            let id = try await ask(alert, store)
            _ = try await store.resolve(
                id, .choose(button: alert.buttons.isEmpty ? nil : 1), by: Self.ana)
            _ = try await store.collect(id, by: Self.asker)
        }
        clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        try #require(
            try await store.erase(before: now, by: Self.ana, rewritesFile: true) { _ in }.erased
                == 3)
        let alerts =
            [Self.keyed[3], Self.expiring(777_600)] + (6...9).map { Self.question("Number \($0)") }
            + [Self.keyed[1], Self.keyed[2], Self.question("Handled", handler: "h"), Alert("Done")]
            + (14...18).map { Self.question("Number \($0)") }
        for alert in alerts {
            _ = try await ask(alert, store, source: alert.key == nil ? "other" : "test")
        }
        try await end(store)
        try await store.sweep(atMost: .max)
        let head = try #require(try await store.auditHead())
        await store.close()
        let db = try Database(path: path)
        try #require(try db.checkpoint(.truncate))
        return head
    }

    private func end(_ store: SQLiteAlertStore) async throws {
        for id in [6, 16] as [Alert.ID] {
            _ = try await store.snooze(id, for: .seconds(9), by: Self.ana)
        }
        clock.advance(by: .seconds(61))
        try await store.sweep(atMost: .max)
        _ = try await store.resolve(5, .expireUnattended, by: Self.ana)
        _ = try await store.resolve(7, .withdraw(), by: Self.asker)
        try await store.requestCancel(8, .own(.program), by: Self.asker)
        _ = try await store.resolve(8, .cancel(handled: true, .requested), by: Self.ana)
        _ = try await store.resolve(9, .cancel(handled: false), by: Self.asker)
        for id in [6, 11, 12, 14] as [Alert.ID] {
            store.post(.presented(try await store.record(id)), by: Self.ana)
        }
        for id in [6, 11, 12] as [Alert.ID] {
            _ = try await store.resolve(id, .choose(button: Int(id % 3)), by: Self.ana)
        }
        _ = try await store.collect(6, by: Self.asker)
        _ = try await store.resolve(13, .dismiss, by: Self.ana)
        _ = try await store.snooze(15, for: nil, by: Self.ana)
        try await store.requestCancel(17, .own(.program), by: Self.asker)
    }

    private func ask(
        _ alert: Alert, _ store: SQLiteAlertStore, source: String = "test"
    ) async throws -> Alert.ID {
        try await store.enqueue(
            Question(alert: alert, source: source, pendingLimit: 100), by: Self.asker
        ).record.id
    }

    // MARK: - Output

    /// The output of the queue; `nil` if it can't even be opened, because of its schema.
    func toldUnlessRefused() async throws -> [String]? {
        do throws(AlertError) {
            try await SQLiteAlertStore.open(path: path, clock: clock).close()
        } catch {
            return nil
        }
        return try await told()
    }

    /// The results of all queries of the queue, and of every operation on it.
    func told() async throws -> [String] {
        let store = try await store()
        var lines: [String] = []
        func tell(_ what: String, _ body: () async throws -> Any) async {
            do { lines.append("\(what): \(try await body())") } catch {
                lines.append("\(what): \(error)")
            }
        }
        await tell("sweep") { try await store.sweep(atMost: .max) }
        await tell("events") { try await events(of: store) }
        await tell("pending") { try await store.pending(limit: 100) }
        await tell("count") { try await store.pendingCount() }
        await tell("due") { try await store.due() }
        await tell("handler") {
            try await store.page(RecordQuery(.awaitingHandler("h"), after: 0, limit: 9)).records
                .map(\.id)
        }
        for alert in Self.keyed {
            let key = alert.key ?? ""
            await tell("key \(key)") {
                try await store.find(.key(key, source: "test", of: Self.asker.principal)).record
            }
            await tell("ask \(key)") { try await ask(alert, store) }
            var other = alert
            other.message = "Another"
            await tell("ask other \(key)") { try await ask(other, store) }
        }
        for id in 1...20 as ClosedRange<Alert.ID> {
            await tell("record \(id)") { try await store.record(id) }
            await tell("handled \(id)") {
                try await store.record(id).response?.cancelHandling as Any
            }
            await tell("cancel \(id)") { try await store.find(.id(id)).isCancelRequested }
        }
        for _ in 0..<8 {
            var next: Alert.ID?
            await tell("next") {
                let upcoming = try await store.next(ScreenQuery(for: ["terminal"]))
                next = upcoming.record?.id
                return upcoming
            }
            guard let id = next else { break }
            await tell("answer \(id)") {
                try await store.resolve(id, .chooseID("rm"), by: Self.ana).response as Any
            }
        }
        for id in 1...20 as ClosedRange<Alert.ID> {
            await tell("resolve \(id)") {
                try await store.resolve(id, .choose(button: 0), by: Self.ana).response as Any
            }
            await tell("collect \(id)") { try await store.collect(id, by: Self.asker) }
        }
        await tell("new") { try await ask(Self.question("New"), store) }
        await tell("events") { try await events(of: store) }
        await store.close()
        return lines
    }

    /// The events without their hashes, which differ with the salt of each new alert.
    private func events(of store: SQLiteAlertStore) async throws -> [Substring] {
        try await store.news(after: LogPosition(.start), of: .everybody).events.map { event in
            let text = "\(event)"
            return text.firstRange(of: ", hash: ").map { text[..<$0.lowerBound] } ?? text[...]
        }
    }

    /// Orders the waiting alerts by id: the log does not prove the turns.
    func forgetTurns() throws {
        let db = try Database(path: path)
        // An edit may have dropped such a table; the queue is then refused as a whole.
        for script in ["UPDATE alerts SET queued_seq = id", "DELETE FROM turns"] {
            try? db.execute(script)
        }
    }

    /// Whether the verification finds the edit, on a plain connection, because a store takes longer
    /// to open.
    func isFound(_ head: AuditHead) throws -> Bool {
        let db = try Database(path: path)
        let report = try? db.reading { () -> AuditReport in
            var verification = QueueVerification(expecting: head)
            try verification.finish(db, at: clock.now())
            return verification.report(damage: try db.structuralDamage(strayingFrom: "alerts"))
        }
        return report.map { !$0.problems.isEmpty } ?? true
    }
}
