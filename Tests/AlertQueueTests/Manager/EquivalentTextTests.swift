import AlertQueue
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import AlertCore
@testable import SQLiteStore

/// Two encodings of é: Swift considers them equal, the database and other programs don't.
@Suite("Equivalent texts", .inParallel)
struct EquivalentTextTests {
    static let composed = "caf\u{E9}"
    static let decomposed = "cafe\u{301}"

    @Test("Buttons whose ids differ only in their bytes are distinct")
    func buttons() async throws {
        let queue = try TemporaryQueue()
        let manager = try await AlertManager(path: queue.path)
        for (index, id) in [Self.composed, Self.decomposed].enumerated() {
            let alert = Alert(
                "Which?", buttons: [Alert.Button(Self.composed), .cancel(Self.decomposed)])
            #expect(alert.buttonIndex(id: id) == index)
            let asked = try await manager.submit(alert).record.id
            let response = try await manager.answer(asked, button: id).response
            #expect(response?.buttonIndex == index)
            #expect(response?.button.map { Array($0.id.utf8) } == Array(id.utf8))
        }
        #expect(try await manager.verifyAudit().problems.isEmpty)
        await manager.close()
    }

    @Test(
        "Another encoding of the default button or of a userInfo key conflicts under the same key",
        arguments: ["default button", "info"])
    func conflicts(part: String) async throws {
        let queue = try TemporaryQueue()
        let manager = try await AlertManager(path: queue.path)
        func alert(_ text: String) -> Alert {
            Alert(
                "Which?", buttons: [Alert.Button(Self.composed), .cancel(Self.decomposed)],
                deadline: .after(.seconds(60)),
                defaultButton: part == "info" ? nil : text, key: "key",
                userInfo: part == "info" ? [text: text] : [:])
        }
        let first = try await manager.submit(alert(Self.composed)).record
        let again = try await manager.submit(alert(Self.composed)).record
        #expect(again.id == first.id)
        let info = again.alert.userInfo.first.map { Array($0.key.utf8) + Array($0.value.utf8) }
        #expect(part != "info" || info == Array((Self.composed + Self.composed).utf8))
        let error = await thrown { try await manager.submit(alert(Self.decomposed)) }
        guard case .keyConflict(_, first.id, part)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        await manager.close()
    }

    @Test("Sources whose names differ only in their bytes are distinct, even in one transaction")
    func sources() async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let gate = Gate()
        // Holds the writer's thread, so that the next writes become one transaction.
        async let blocked: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let names = [Self.composed, Self.decomposed]
        async let one = store.enqueue(Question(alert: .yesNo(), source: names[0]), by: .ana)
        async let two = store.enqueue(Question(alert: .yesNo(), source: names[1]), by: .ana)
        #expect(await eventually { store.writes.state.withLock { $0.waiting.count == 2 } })
        gate.open()
        try await blocked
        let asked = [try await one.record, try await two.record]
        for (record, name) in zip(asked, names) {
            let found = try await store.record(record.id)
            #expect(found.source.name.isIdentical(to: name))
        }
        #expect(try await store.verify(expecting: nil, { _, _ in }).problems.isEmpty)
        await store.close()
    }

    @Test("A handler runs only for alerts that name it byte for byte")
    func handlers() async throws {
        let queue = try TemporaryQueue()
        let manager = try await AlertManager(path: queue.path)
        let recorder = Recorder()
        manager.onError { recorder.note("\($0)") }
        for name in [Self.composed, Self.decomposed] {
            try await manager.register(handler: name) {
                recorder.note("\($0.alertID) \(name.utf8.count)")
            }
        }
        for (id, name) in [(1, Self.composed), (2, Self.decomposed)] {
            var alert = Alert.yesNo()
            alert.handler = name
            _ = try await manager.submit(alert)
            try await manager.answer(Int64(id), button: "Yes")
        }
        #expect(await eventually { Set(recorder.lines) == ["1 5", "2 6"] })
        await manager.close()
    }
}
