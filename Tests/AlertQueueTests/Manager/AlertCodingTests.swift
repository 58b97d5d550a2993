import AlertQueue
import AlertQueueTesting
import Foundation
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@Suite("Alerts, records and responses as JSON", .inParallel)
struct AlertCodingTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private let everything = Alert(
        "Delete “40 GB”?", message: "Line\nline", style: .actionSheet,
        buttons: [.destructive("Delete", id: "rm"), "Later", .cancel("Keep")], priority: .critical,
        deadline: .after(.seconds(90)), defaultButton: "Keep", snooze: .milliseconds(1500),
        validFor: .seconds(60), source: "backup", key: "k\u{301}", handler: "h",
        presenters: ["terminal", "desktop"],
        userInfo: ["path": "/srv", "ü": ""])

    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test("Decoding an encoded alert gives the same alert, except for closures")
    func alert() throws {
        #expect(try roundTrip(everything) == everything)
        #expect(try roundTrip(Alert("T")) == Alert("T"))
        let moment = Date(timeIntervalSince1970: 2_000_000_000.123)
        let notice = Alert("N", deadline: .at(moment), dismissAfter: .seconds(3))
        #expect(try roundTrip(notice) == notice)
        let button = Alert.Button("Yes") {}
        #expect(try roundTrip(Alert("T", buttons: [button])) == Alert("T", buttons: ["Yes"]))
    }

    @Test("A title alone decodes as an alert, and invalid values are refused")
    func sparse() throws {
        let decoder = JSONDecoder()
        let bare = try decoder.decode(Alert.self, from: Data(#"{"title": "T"}"#.utf8))
        #expect(bare == Alert("T"))
        for text in [
            #"{"title": "T", "priority": "urgent"}"#, #"{"title": "T", "style": "banner"}"#,
            #"{"title": "T", "expires_at": "tomorrow"}"#, #"{"message": "M"}"#,
            #"{"title": "T", "buttons": [{"id": "a", "title": "A", "role": "big"}]}"#,
        ] {
            #expect(throws: DecodingError.self) {
                try decoder.decode(Alert.self, from: Data(text.utf8))
            }
        }
    }

    /// Records of every state and outcome, in one queue.
    private func records() async throws -> [AlertRecord] {
        let clock = ManualClock()
        let manager = try await AlertManager(path: queue.path, source: "test", clock: clock)
        var plain = everything
        (plain.key, plain.handler) = (nil, nil)
        var ids: [Alert.ID] = []
        for _ in 0..<6 { ids.append(try await manager.show(plain)) }
        let waiting = try await manager.show(Alert("Waits", buttons: ["OK"]))
        let snoozed = try await manager.show(Alert("Snoozed", buttons: ["OK"]))
        try await manager.snooze(snoozed, for: .seconds(60))
        var keyed = plain
        keyed.key = "k"
        ids.append(try await manager.show(keyed))
        keyed.title = "In its place"
        _ = try await manager.submit(keyed, join: .replacing)
        let ana = Caller(
            Account(uid: 7, name: "ana"), via: "chat", tty: "/dev/pts/1", ssh: "::1",
            process: ProcessIdentity(host: "h", pid: 9))
        try await manager.answer(ids[0], button: "rm", by: ana)
        try await manager.collect(ids[0])
        try await manager.cancel(ids[1])
        try await manager.withdraw(ids[2])
        try await manager.answer(ids[3], buttonAt: 1)
        clock.advance(by: .seconds(90))
        var records: [AlertRecord] = []
        for id in ids + [waiting, snoozed] { records.append(try await manager.record(id)) }
        #expect(records.contains { $0.response?.supersededBy != nil })
        #expect(records.contains { $0.response?.isStale == true })
        await manager.close()
        return records
    }

    @Test("Decoding an encoded record or response gives the same value")
    func record() async throws {
        for record in try await records() {
            let read = try roundTrip(record)
            #expect(read == record)
            #expect(read.seen?.count == 64)
            guard let response = record.response else { continue }
            #expect(try roundTrip(response) == response)
            // A response can be read from the whole line, too.
            let line = try JSONEncoder().encode(record)
            #expect(try JSONDecoder().decode(Response.self, from: line) == response)
        }
    }

    @Test("The line that the command prints is the record's JSON")
    func line() async throws {
        for record in try await records() {
            let line = Data(try AlertJSON.line(record).utf8)
            #expect(try JSONDecoder().decode(AlertRecord.self, from: line) == record)
        }
    }

    @Test("An erased record is still erased after decoding")
    func erased() async throws {
        let manager = try await AlertManager(path: queue.path, source: "test")
        let id = try await manager.show(everything)
        try await manager.answer(id, button: "rm")
        try await manager.collect(id)
        _ = try await manager.purge(before: Date())
        let record = try await manager.record(id)
        #expect(record.isErased && record.seen == nil)
        #expect(try roundTrip(record) == record)
        await manager.close()
    }

    @Test("A record without a response can't be decoded as a response")
    func unanswered() async throws {
        let manager = try await AlertManager(path: queue.path)
        let record = try await manager.record(try await manager.show(everything))
        let line = try JSONEncoder().encode(record)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Response.self, from: line)
        }
        await manager.close()
    }

    @Test("Events carry the title and the key, until the texts are erased")
    func events() async throws {
        let manager = try await AlertManager(path: queue.path, source: "test")
        let id = try await manager.show(everything)
        var events = manager.events(after: .start).makeAsyncIterator()
        let asked = try #require(try await events.next())
        #expect(asked.title == everything.title && asked.key == everything.key)
        try await manager.answer(id, button: "rm")
        try await manager.collect(id)
        _ = try await manager.purge(before: Date())
        events = manager.events(after: .start).makeAsyncIterator()
        let erased = try #require(try await events.next())
        #expect(erased.title == nil && erased.key == everything.key)
        await manager.close()
    }
}
