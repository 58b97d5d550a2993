import AlertQueue
import AlertQueueTesting
import Dispatch
import StoreTesting
import TestSupport
import Testing

@Suite("Closures", .inParallel)
struct ClosureTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    @Test("An action that asks another question and waits for it does not block the queue")
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

    @Test("An action that never returns does not block the queue")
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

    @Test("Actions that block their threads hold up neither each other nor the queue")
    func blockingActions() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        // Dispatch adds a thread a second to the pool of tasks.
        let (count, limit) = (48, Duration.seconds(30))
        let gate = DispatchSemaphore(value: 0)
        @Sendable func block() {
            recorder.note("began")
            gate.wait()
        }
        for number in 0..<count {
            try await manager.show(
                Alert("\(number)?", buttons: [Alert.Button("Go") { block() }]))
        }
        let began = await eventually(within: limit) { recorder.lines.count == count }
        let response = Task { try await manager.ask("Last?", buttons: ["Go"]) }
        let isAnswered = try await eventually(within: limit) {
            try await manager.history(.init(text: "Last?")).first?.response != nil
        }
        for _ in 0..<count { gate.signal() }
        #expect(began && isAnswered, "\(recorder.lines.count)")
        #expect(try await response.value.outcome == .answered)
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
