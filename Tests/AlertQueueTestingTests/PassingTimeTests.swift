import AlertQueue
import AlertQueueTesting
import ProcessTesting
import TestSupport
import Testing

/// Moves the clock as soon as the alert is on the screen, and checks that no wake-up is lost.
@Suite("Passing time", .inParallel, .within(.seconds(240)))
struct PassingTimeTests {
    let queue: CommandLineQueue
    let presenter = ScriptedPresenter()
    let clock = ManualClock()

    init() throws { queue = try CommandLineQueue() }

    private func manager() async throws -> AlertManager {
        try await AlertManager(path: queue.path, presenters: [presenter], clock: clock)
    }

    /// How often each test is repeated, since a wake-up might be lost only occasionally.
    private let rounds = 100

    @Test("An alert without buttons dismisses itself when its time has passed")
    func dismissal() async throws {
        let manager = try await manager()
        for round in 1...rounds {
            let alert = Alert("Done \(round)", dismissAfter: .seconds(10))
            async let asking = manager.ask(alert)
            _ = try await presenter.waitUntilShown(within: .seconds(20))
            clock.advance(by: .seconds(10))
            try #require(try await asking.outcome == .dismissed)
        }
        await manager.close()
    }

    @Test("A deadline that passes while the alert is on the screen expires it")
    func deadline() async throws {
        let manager = try await manager()
        for round in 1...rounds {
            var alert = Alert("Go on? \(round)", buttons: ["Yes"])
            alert.deadline = .after(.seconds(3600))
            async let asking = manager.ask(alert)
            _ = try await presenter.waitUntilShown(within: .seconds(20))
            clock.advance(by: .seconds(3600))
            try #require(try await asking.outcome == .expired)
        }
        await manager.close()
    }

    @Test("A snoozed alert comes again when the clock is moved by the snooze")
    func snooze() async throws {
        let manager = try await manager()
        var last = AuditHead.start
        for round in 1...rounds {
            async let asking = manager.ask("Go on? \(round)", buttons: ["Yes"])
            _ = try await presenter.waitUntilShown(within: .seconds(20))
            presenter.choose(.later(.seconds(60)))
            for try await event in manager.events(after: last) {
                last = event.cursor
                if event.kind == .snoozed { break }
            }
            clock.advance(by: .seconds(60))
            _ = try await presenter.waitUntilShown(within: .seconds(20))
            presenter.choose(.button(0))
            try #require(try await asking.outcome == .answered)
        }
        await manager.close()
    }
}
