import AlertQueue
import Foundation
import StoreTesting
import TestSupport
import Testing

/// Answers by a program, on behalf of a user, and with the digest of what was seen.
@Suite("Answers by a program", .inParallel)
struct AnswerTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private let question = Alert("Delete?", buttons: [.destructive("Delete"), .cancel("Keep")])
    private let ana = Caller(
        Account(uid: 7, name: "ana"), via: "chat", process: ProcessIdentity(host: "bridge", pid: 9))

    @Test("The record and the log name the given responder, and say that a program answered")
    func responder() async throws {
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show(question)
        let record = try await manager.answer(id, button: "Keep", by: ana)
        #expect(record.response?.responder == ana)
        #expect(record.response?.by == .program)
        let entry = try await manager.audit(of: id).last { $0.event.kind == .resolved }
        #expect(entry?.event.responder == ana && entry?.loginUID == nil)
        #expect(try await manager.verifyAudit().problems.isEmpty)
        await manager.close()
    }

    @Test("A person without an account answers with a device")
    func person() async throws {
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show(question)
        let boss = Caller(.person("boss"), via: "inbox", means: .device("phone"))
        let record = try await manager.answer(id, button: "Keep", by: boss)
        #expect(record.response?.responder == boss)
        #expect(
            record.response?.summary.hasPrefix(
                "answered “Keep” by person:boss (a program) via inbox with device phone") == true)
        #expect(try await manager.history(HistoryFilter(user: "person:boss")).map(\.id) == [id])
        #expect(
            try JSONDecoder().decode(AlertRecord.self, from: JSONEncoder().encode(record)) == record
        )
        #expect(try await manager.verifyAudit().problems.isEmpty)
        await manager.close()
    }

    @Test("An invalid responder is refused, and nothing is stored")
    func wrongResponder() async throws {
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show(question)
        let wrong = [
            Caller(Account(uid: 7), via: "", process: ProcessIdentity(host: "h", pid: 1)),
            Caller(Account(uid: 7), via: "chat", process: ProcessIdentity(host: " ", pid: 1)),
            Caller(
                Account(uid: 7, name: "a\0b"), via: "chat",
                process: ProcessIdentity(host: "h", pid: 1)),
            Caller(
                Account(uid: 7), via: String(repeating: "v", count: 257),
                process: ProcessIdentity(host: "h", pid: 1)),
            Caller(.person(""), via: "chat", means: .link),
            Caller(.person("boss"), via: "chat", means: .device("")),
            Caller(.person("boss"), via: "chat", means: .token("a\0b")),
        ]
        for responder in wrong {
            let error = await #expect(throws: AlertError.self) {
                try await manager.answer(id, button: "Keep", by: responder)
            }
            guard case .invalid = error else {
                Issue.record("\(error as Any)")
                continue
            }
        }
        #expect(try await manager.record(id).response == nil)
        await manager.close()
    }

    @Test("A button can be chosen by index, and an index out of range is refused")
    func index() async throws {
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show(question)
        for index in [-1, 2, .max] {
            await #expect(throws: AlertError.self) {
                try await manager.answer(id, buttonAt: index)
            }
        }
        let record = try await manager.answer(id, buttonAt: question.cancelButtonIndex)
        #expect(record.response?.button?.id == "Keep")
        await manager.close()
    }

    @Test("An answer with the digest of the question is taken, and with any other is refused")
    func seen() async throws {
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show(question)
        let other = try await manager.show(question)
        let seen = try #require(try await manager.record(id).seen)
        let entry = try #require(try await manager.audit(of: id).first)
        #expect(entry.content.map(Hex.text) == seen)

        // The same question asked again has a digest of its own.
        await #expect(throws: AlertError.notAsSeen(other)) {
            try await manager.answer(other, button: "Keep", seen: seen)
        }
        for text in ["", "abc", seen + "00", String(repeating: "g", count: 64)] {
            let error = await #expect(throws: AlertError.self) {
                try await manager.answer(id, button: "Keep", seen: text)
            }
            guard case .invalid = error else {
                Issue.record("\(error as Any)")
                continue
            }
        }
        #expect(try await manager.record(id).response == nil)
        #expect(try await manager.record(other).response == nil)
        try await manager.answer(id, button: "Keep", seen: seen.uppercased())
        #expect(try await manager.record(id).response?.button?.id == "Keep")
        await manager.close()
    }
}
