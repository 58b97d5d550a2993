import AlertQueue
import AlertQueueTesting
import Testing

@Suite("Key")
struct KeyTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("Two askers with one key share one alert and its response")
    func join() async throws {
        let first = try await AlertManager(path: queue.path, source: "s")
        let second = try await AlertManager(path: queue.path, source: "s")
        async let one = first.ask("Go?", buttons: ["Go"], key: "k")
        async let two = second.ask("Go?", buttons: ["Go"], key: "k")
        #expect(try await eventually { try await first.pendingCount() == 1 })
        let id = try #require(try await first.pending().first).id
        try await second.answer(id, button: "Go")
        #expect(try await one.alertID == id)
        #expect(try await two.alertID == id)
        await first.close()
        await second.close()
    }

    @Test("Asking again after a restart returns the recorded response, whatever its outcome")
    func recorded() async throws {
        let before = try await AlertManager(path: queue.path, source: "s")
        let id = try await before.show(Alert("Go?", buttons: ["Go"], key: "k"))
        try await before.withdraw(id)
        await before.close()
        let after = try await AlertManager(path: queue.path, source: "s")
        let response = try await after.ask("Go?", buttons: ["Go"], key: "k")
        #expect(response.outcome == .withdrawn)
        #expect(response.alertID == id)
        await after.close()
    }

    @Test("A key with other content is refused, and nothing is stored")
    func conflict() async throws {
        let manager = try await AlertManager(path: queue.path, source: "s")
        try await manager.show(Alert("Go?", buttons: ["Go"], key: "k"))
        await #expect(throws: AlertError.self) {
            try await manager.show(Alert("Stay?", buttons: ["Go"], key: "k"))
        }
        #expect(try await manager.pendingCount() == 1)
        await manager.close()
    }

    @Test(
        "Cancelling the asking task withdraws the alert, unless it has a key",
        arguments: [nil, "k"])
    func cancelledTask(key: String?) async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = Task { try await manager.ask("Go?", buttons: ["Go"], key: key) }
        #expect(try await eventually { try await manager.pendingCount() == 1 })
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(try await manager.pendingCount() == (key == nil ? 0 : 1))
        await manager.close()
    }
}

@Suite("Handler")
struct HandlerTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    private func answered(_ count: Int) async throws {
        let manager = try await AlertManager(path: queue.path)
        for number in 0..<count {
            let id = try await manager.show(
                Alert("Question \(number)", buttons: ["Go"], handler: "apply"))
            try await manager.answer(id, button: "Go")
        }
        await manager.close()
    }

    @Test("A handler registered after a restart gets every response, and each once")
    func restart() async throws {
        try await answered(40)
        let manager = try await AlertManager(path: queue.path)
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note("\(response.alertID)")
        }
        #expect(
            try await eventually {
                try await manager.history(.init(uncollected: true)).isEmpty
            })
        #expect(recorder.lines.sorted() == (1...40).map { "\($0)" }.sorted())
        await manager.close()
    }

    @Test("A handler hears of responses that another process stores")
    func otherProcess() async throws {
        let manager = try await AlertManager(path: queue.path)
        try await manager.register(handler: "apply") { [recorder] response in
            recorder.note(response.button?.id ?? "none")
        }
        try await answered(1)
        #expect(await eventually { recorder.lines == ["Go"] })
        await manager.close()
    }

    @Test("A handler that throws is not tried again before the next registration")
    func throwing() async throws {
        struct Trouble: Error {}
        try await answered(1)
        let manager = try await AlertManager(path: queue.path)
        try await manager.register(handler: "apply") { [recorder] _ in
            recorder.note("tried")
            throw Trouble()
        }
        #expect(await eventually { recorder.lines.count == 1 })
        // News of other alerts must not lead to another try.
        try await manager.show(Alert("Another", buttons: ["Go"]))
        #expect(try await manager.history(.init(uncollected: true)).count == 1)
        #expect(recorder.lines == ["tried"])
        try await manager.register(handler: "apply") { [recorder] _ in recorder.note("done") }
        #expect(await eventually { recorder.lines == ["tried", "done"] })
        #expect(
            try await eventually { try await manager.history(.init(uncollected: true)).isEmpty })
        await manager.close()
    }

    @Test("Two processes that register one name run it once for each response")
    func exclusive() async throws {
        let managers = [
            try await AlertManager(path: queue.path), try await AlertManager(path: queue.path),
        ]
        for manager in managers {
            try await manager.register(handler: "apply") { [recorder] response in
                recorder.note("\(response.alertID)")
            }
        }
        try await answered(30)
        #expect(
            try await eventually {
                try await managers[0].history(.init(uncollected: true)).isEmpty
            })
        #expect(recorder.lines.count == 30)
        for manager in managers { await manager.close() }
    }

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
        try await manager.show(
            Alert("First?", buttons: [Alert.Button("Go") { throw Trouble() }]))
        _ = try await manager.ask("Second?", buttons: ["Go"])
        #expect(try await manager.history(.init(uncollected: true)).map(\.id).contains(1))
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
}
