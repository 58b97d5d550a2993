import AlertQueue
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

@Suite("Presenters that can't be ended", .inParallel)
struct StuckPresenterTests {
    private let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("A presenter that ignores its end gives up the lead with its manager, and others show")
    func leadIsGivenUp() async throws {
        let stuck = StuckPresenter()
        let first = try await AlertManager(path: queue.path, presenters: [stuck])
        let id = try await first.show(Alert("First?", buttons: [Alert.Button("OK")]))
        #expect(await eventually { stuck.shown == [id] })
        _ = try await first.withdraw(id)
        // Two seconds are its time to clear the screen.
        #expect(await eventually { await first.screens().leader == nil })
        let other = StuckPresenter()
        let second = try await AlertManager(path: queue.path, presenters: [other])
        let next = try await second.show(Alert("Second?", buttons: [Alert.Button("OK")]))
        #expect(await eventually { other.shown == [next] })
        #expect(stuck.shown == [id])
        // Once it has ended, it shows alerts again.
        other.end()
        await second.close()
        stuck.end()
        #expect(await eventually { stuck.shown.count > 1 })
        stuck.end()
        await first.close()
        #expect(await second.screens().leader == nil)
    }

    @Test("Beside one that ignores its end, another presenter goes on")
    func others() async throws {
        let (stuck, good) = (StuckPresenter(), StuckPresenter(name: "good"))
        good.end()
        let manager = try await AlertManager(path: queue.path, presenters: [stuck, good])
        let id = try await manager.show(Alert("First?", buttons: [Alert.Button("OK")]))
        #expect(await eventually { stuck.shown == [id] && good.shown == [id] })
        _ = try await manager.withdraw(id)
        let next = try await manager.show(Alert("Second?", buttons: [Alert.Button("OK")]))
        #expect(await eventually { good.shown.contains(next) })
        #expect(stuck.shown == [id])
        stuck.end()
        await manager.close()
    }
}

/// Shows alerts until it is told to stop, whatever becomes of its task.
private final class StuckPresenter: AlertPresenter {
    private struct State {
        var shown: [Alert.ID] = []
        var isStuck = true
    }

    let name: String
    private let state = Mutex(State())

    var shown: [Alert.ID] { state.withLock { $0.shown } }

    init(name: String = "stuck") { self.name = name }

    func end() { state.withLock { $0.isStuck = false } }

    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        state.withLock { $0.shown.append(presentation.record.id) }
        while state.withLock({ $0.isStuck }) || !Task.isCancelled {
            // In a task of its own, which nobody cancels: a cancelled sleep ends at once.
            _ = await Task.detached { try? await Task.sleep(for: .milliseconds(5)) }.value
        }
        throw CancellationError()
    }
}
