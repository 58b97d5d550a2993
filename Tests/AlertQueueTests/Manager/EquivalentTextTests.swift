import AlertQueue
import StoreTesting
import Testing

@testable import AlertCore

/// Two ways to write é: Swift takes them for equal, the database and other programs don't.
@Suite("Equivalent texts")
struct EquivalentTextTests {
    static let composed = "caf\u{E9}"
    static let decomposed = "cafe\u{301}"

    @Test("Buttons whose ids differ in their bytes are two, and each is found by its own")
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
        "Another way to write the default button or a name in userInfo is other content for a key",
        arguments: ["default button", "userInfo"])
    func conflicts(part: String) async throws {
        let queue = try TemporaryQueue()
        let manager = try await AlertManager(path: queue.path)
        func alert(_ text: String) -> Alert {
            Alert(
                "Which?", buttons: [Alert.Button(Self.composed), .cancel(Self.decomposed)],
                deadline: .after(.seconds(60)),
                defaultButton: part == "userInfo" ? nil : text, key: "key",
                userInfo: part == "userInfo" ? [text: text] : [:])
        }
        let first = try await manager.submit(alert(Self.composed)).record
        let again = try await manager.submit(alert(Self.composed)).record
        #expect(again.id == first.id)
        let info = again.alert.userInfo.first.map { Array($0.key.utf8) + Array($0.value.utf8) }
        #expect(part != "userInfo" || info == Array((Self.composed + Self.composed).utf8))
        let error = await thrown { try await manager.submit(alert(Self.decomposed)) }
        guard case .keyConflict(_, first.id, part)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        await manager.close()
    }
}
