import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

@Suite("Closures", .inParallel)
struct ClosureTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    @Test("An action that asks the next question and waits for it does not stop the queue")
    func nested() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        try await manager.show(
            Alert(
                "First?",
                buttons: [
                    Alert.Button("Go") { [recorder] in
                        let next = try await manager.ask("Second?", buttons: ["Yes"])
                        recorder.note(next.button?.id ?? "none")
                    }
                ]))
        #expect(await eventually { recorder.lines == ["Yes"] })
        await manager.close()
    }

    @Test("An action that throws leaves the response uncollected")
    func throwingAction() async throws {
        struct Trouble: Error {}
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        manager.onError { [recorder] _ in recorder.note("failed") }
        let first = try await manager.show(
            Alert("First?", buttons: [Alert.Button("Go") { throw Trouble() }]))
        #expect(await eventually { recorder.lines == ["failed"] })
        let second = try await manager.ask("Second?", buttons: ["Go"]).alertID
        // By then a collection of the first would have been stored, too.
        #expect(
            try await eventually { try await manager.record(second).response?.collectedAt != nil })
        #expect(try await manager.record(first).response?.collectedAt == nil)
        await manager.close()
    }

    @Test("An action that never returns does not stop the queue")
    func hangingAction() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        try await manager.show(
            Alert(
                "First?",
                buttons: [Alert.Button("Go") { try await Task.sleep(for: .seconds(3600)) }]))
        let response = try await manager.ask("Second?", buttons: ["Go"])
        #expect(response.outcome == .answered)
        await manager.close()
    }

    @Test("A second show with the same key adds its closures")
    func secondShow() async throws {
        let manager = try await AlertManager(path: queue.path)
        for name in ["first", "second"] {
            try await manager.show(
                Alert(
                    "Go?",
                    buttons: [Alert.Button("Go") { [recorder] in recorder.note("\(name) action") }],
                    key: "go")
            ) { [recorder] _, index in recorder.note("\(name) \(index)") }
        }
        try await manager.answer(1, button: "Go")
        let all = ["first action", "first 0", "second action", "second 0"]
        #expect(await eventually { recorder.lines == all })
        #expect(
            try await eventually { try await manager.record(1).response?.collectedAt != nil })
        await manager.close()
    }
}
