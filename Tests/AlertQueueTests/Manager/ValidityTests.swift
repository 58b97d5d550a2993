import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

/// What a manager does with answers that are too old to be used.
@Suite("Validity", .inParallel)
struct ValidityTests {
    let queue: TemporaryQueue
    let clock = ManualClock()
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    private static func question(_ handler: String? = nil) -> Alert {
        Alert(
            "Deploy?", buttons: ["Deploy", .cancel("Wait")], validFor: .seconds(60), key: "k",
            handler: handler)
    }

    /// A manager that was opened a minute after an answer was given.
    private func later(_ handler: String? = nil) async throws -> AlertManager {
        let before = try await AlertManager(path: queue.path, clock: clock)
        let id = try await before.show(Self.question(handler))
        try await before.answer(id, button: "Deploy")
        await before.close()
        clock.advance(by: .seconds(60))
        let manager = try await AlertManager(path: queue.path, clock: clock)
        manager.onError { [recorder] in recorder.note("\($0)") }
        return manager
    }

    private func reason(_ manager: AlertManager) async throws -> String? {
        try await manager.audit(of: 1).last { $0.event.kind == .collected }?.detail
    }

    @Test("Asking again throws stale, also once the answer is collected for that")
    func asked() async throws {
        let manager = try await later()
        for _ in 1...2 {
            let error = await #expect(throws: AlertError.self) {
                try await manager.ask(Self.question())
            }
            guard case .stale(let response, .seconds(60))? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(response.button?.id == "Deploy" && response.isStale)
            #expect(try await reason(manager) == #"{"unused":"stale"}"#)
        }
        await manager.close()
    }

    @Test("A named handler is not run for a stale answer, which is collected and reported")
    func handler() async throws {
        let manager = try await later("apply")
        try await manager.register(handler: "apply") { [recorder] _ in recorder.note("ran") }
        #expect(await eventually { !recorder.lines.isEmpty })
        #expect(recorder.lines.first?.contains("the answer to alert 1 is stale") == true)
        #expect(try await eventually { try await reason(manager) == #"{"unused":"stale"}"# })
        await manager.close()
        #expect(recorder.lines.count == 1)
    }

    @Test("A closure is not run for a stale answer")
    func closure() async throws {
        let manager = try await later()
        try await manager.show(Self.question()) { [recorder] _, _ in recorder.note("ran") }
        #expect(await eventually { !recorder.lines.isEmpty })
        #expect(recorder.lines.first?.contains("the answer to alert 1 is stale") == true)
        #expect(try await eventually { try await reason(manager) == #"{"unused":"stale"}"# })
        await manager.close()
        #expect(recorder.lines.count == 1)
    }

    @Test("A hook is not offered a stale answer")
    func hook() async throws {
        let manager = try await later()
        let end = await manager.process(1, of: nil) { [recorder] _, _ in recorder.note("ran") }
        guard case .stale = end else { return #expect(Bool(false), "\(end)") }
        #expect(recorder.lines.isEmpty)
        #expect(try await reason(manager) == #"{"unused":"stale"}"#)
        await manager.close()
    }

    @Test("An answer that is used in time is an answer like any other")
    func inTime() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let asking = Task { try await manager.ask(Self.question()) }
        #expect(try await eventually { try await manager.pendingCount() == 1 })
        try await manager.answer(1, button: "Deploy")
        #expect(try await asking.value.button?.id == "Deploy")
        clock.advance(by: .seconds(59))
        #expect(try await manager.ask(Self.question()).isStale == false)
        await manager.close()
    }
}
