import AlertQueue
import AlertQueueTesting
import CLinux
import Glibc
import Linux
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore
@testable import SQLiteStore

/// A simulated screen that keeps its alert until `choose` returns.
private final class LastingPresenter: AlertPresenter {
    let name = "lasting"
    let recorder: Recorder
    private let choices: Mutex<[PresenterChoice]>
    private let visible = Mutex(false)

    init(_ recorder: Recorder, choosing choices: [PresenterChoice]) {
        self.recorder = recorder
        self.choices = Mutex(choices)
    }

    var isVisible: Bool { visible.withLock { $0 } }

    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        visible.withLock { $0 = true }
        recorder.note("appears")
        await presentation.didAppear()
        let choice = choices.withLock { $0.isEmpty ? PresenterChoice.close : $0.removeFirst() }
        await presentation.choose(choice)
        visible.withLock { $0 = false }
        recorder.note("clears")
        return choice
    }

    func didFail(_ presentation: Presentation, error: AlertError) async {
        recorder.note("failed")
    }

    func didResolve(_ presentation: Presentation, response: Response, choseHere: Bool) async {
        recorder.note("resolved \(choseHere)")
    }
}

/// Records at each call whether the screen still shows the alert.
private final class Looker: AlertManagerDelegate {
    let presenter: LastingPresenter
    let recorder: Recorder

    init(_ presenter: LastingPresenter, _ recorder: Recorder) {
        self.presenter = presenter
        self.recorder = recorder
    }

    private func note(_ call: String) {
        recorder.note(call + (presenter.isVisible ? " visible" : " gone"))
    }

    func didPresent(_ alert: AlertRecord) { note("didPresent") }
    func clicked(_ alert: AlertRecord, buttonAt index: Int) { note("clicked") }
    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) { note("willDismiss") }
    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) { note("didDismiss") }
}

/// A slow delegate on an actor of its own.
private actor SlowDelegate: AlertManagerDelegate {
    let recorder: Recorder

    init(_ recorder: Recorder) { self.recorder = recorder }

    private func note(_ call: String) async {
        for _ in 0..<20 { await Task.yield() }
        recorder.note(call)
    }

    func willPresent(_ alert: AlertRecord) async { await note("willPresent") }
    func didPresent(_ alert: AlertRecord) async { await note("didPresent") }
    func clicked(_ alert: AlertRecord, buttonAt index: Int) async { await note("clicked") }
    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await note("willDismiss")
    }
    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await note("didDismiss")
    }
}

/// A delegate that answers an alert while it leaves the screen.
private final class AnsweringDelegate: AlertManagerDelegate {
    private let body = Mutex<@Sendable (Alert.ID) async -> Void>({ _ in })

    var answer: @Sendable (Alert.ID) async -> Void {
        get { body.withLock { $0 } }
        set { body.withLock { $0 = newValue } }
    }

    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await answer(alert.id)
    }
}

@Suite("On the screen", .inParallel)
struct OnScreenTests {
    let queue: TemporaryQueue
    let recorder = Recorder()
    private let question = Alert("Delete?", buttons: ["Yes", .cancel("No")])

    init() throws { queue = try TemporaryQueue() }

    @Test("A chosen alert stays on the screen while clicked and willDismiss are called")
    func stays() async throws {
        let presenter = LastingPresenter(recorder, choosing: [.button(0)])
        let looker = Looker(presenter, recorder)
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], delegate: looker)
        try await manager.show(question)
        #expect(await eventually { recorder.lines.count >= 7 })
        #expect(
            recorder.lines == [
                "appears", "didPresent visible", "clicked visible", "willDismiss visible",
                "clears", "resolved true", "didDismiss gone",
            ])
        await manager.close()
    }

    @Test("The presenter is notified of a choice that can't be stored, and shows the alert again")
    func locked() async throws {
        let presenter = LastingPresenter(recorder, choosing: [.button(0), .button(1)])
        let manager = try await queue.manager(busyTime: .milliseconds(300))
        let id = try await manager.show(question)
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        try await manager.startPresenting([presenter])
        #expect(await eventually { recorder.lines.contains("failed") })
        // It appears again after a second: its next choice must be stored.
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        #expect(recorder.lines.prefix(3) == ["appears", "clears", "failed"])
        #expect(await eventually { recorder.lines.last == "resolved true" })
        #expect(try await manager.record(id).response?.buttonIndex == 1)
        await manager.close()
    }

    @Test("After an impossible choice the screen is cleared, and the alert is shown again")
    func impossible() async throws {
        let presenter = LastingPresenter(
            recorder, choosing: [.later(.seconds(-1)), .button(1)])
        let clock = ManualClock()
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], clock: clock)
        manager.onError { _ in }
        let id = try await manager.show(question)
        #expect(
            try await eventually {
                clock.advance(by: .seconds(1))
                return try await manager.record(id).response != nil
            })
        #expect(await eventually { recorder.lines.last == "resolved true" })
        #expect(recorder.lines.count { $0 == "appears" } == 2)
        #expect(recorder.lines.count { $0 == "clears" } == 2)
        await manager.close()
    }

    @Test("A screen whose choice is still being stored is cleared when its manager stops")
    func stopped() async throws {
        let presenter = LastingPresenter(recorder, choosing: [.button(0)])
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show(question)
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        try await manager.startPresenting([presenter])
        #expect(await eventually { recorder.lines == ["appears"] })
        let store = try #require(manager.store as? SQLiteAlertStore)
        #expect(
            await eventually {
                store.writes.state.withLock { $0.waiting.contains { $0.kind == .answer } }
            })
        async let stop: Void = manager.stopPresenting()
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        await stop
        #expect(recorder.lines.prefix(2) == ["appears", "clears"] && !presenter.isVisible)
        #expect(try await manager.record(id).response?.buttonIndex == 0)
        await manager.close()
    }

    @Test("An answer that comes while a snoozed alert leaves the screen reaches its asker")
    func answeredWhileLeaving() async throws {
        let delegate = AnsweringDelegate()
        let presenter = ScriptedPresenter { _ in .later(nil) }
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], delegate: delegate)
        let other = try await AlertManager(path: queue.path)
        delegate.answer = { id in _ = try? await other.answer(id, button: "No") }
        let response = try await manager.ask(question)
        #expect(response.button?.id == "No" && response.by == .program)
        await other.close()
        await manager.close()
    }

    @Test("Presenting stops while an alert with a delegate of its own is being stored")
    func stoppedWhileStoring() async throws {
        let delegate = RecordingDelegate(recorder)
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        let first = try await manager.show(question)
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        async let second = manager.show(question, delegate: delegate)
        presenter.choose(.later(nil))
        async let stop: Void = manager.stopPresenting()
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        await stop
        #expect(!presenter.isShowing)
        #expect(try await manager.record(first).response == nil)
        #expect(try await manager.record(second).response == nil)
        await manager.close()
    }

    @Test("An alert's own delegate is called instead of the manager's")
    func ownDelegate() async throws {
        let (mine, general) = (Recorder(), Recorder())
        let own = RecordingDelegate(mine, handling: .handled)
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter],
            delegate: RecordingDelegateHolder.keep(RecordingDelegate(general)))
        let first = try await manager.show(question, delegate: own)
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        // Another manager finds the delegate, too.
        let other = try await AlertManager(path: queue.path)
        let cancelled = try await other.cancel(first)
        #expect(cancelled.response?.cancelHandling == .handled)
        await other.close()
        #expect(await eventually { mine.lines.last == "didDismiss 1" })
        #expect(
            mine.lines == [
                "willPresent", "didPresent", "cancel", "willDismiss 1", "didDismiss 1",
            ])
        #expect(general.lines.isEmpty)

        let second = try await manager.show(question)
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.button(0))
        #expect(await eventually { general.lines.last == "didDismiss 0" })
        #expect(mine.lines.count == 5)
        #expect(try await manager.record(second).response?.by == .person)
        await manager.close()
    }

    @Test("Each of a hundred alerts with delegates of their own makes every call")
    func manyDelegates() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let recorders = (0..<100).map { _ in Recorder() }
        let delegates = recorders.map { RecordingDelegate($0) }
        await withTaskGroup { group in
            for delegate in delegates {
                group.addTask { _ = try? await manager.ask(question, delegate: delegate) }
            }
        }
        #expect(
            recorders.allSatisfy {
                $0.lines == [
                    "willPresent", "didPresent", "clicked 0", "willDismiss 0", "didDismiss 0",
                ]
            })
        await manager.close()
    }

    @Test("A slow delegate on another actor gets all calls in order")
    func slow() async throws {
        let delegate = SlowDelegate(recorder)
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], delegate: delegate)
        for _ in 0..<20 { _ = try await manager.ask(question) }
        #expect(
            recorder.lines
                == Array(
                    repeating: [
                        "willPresent", "didPresent", "clicked", "willDismiss", "didDismiss",
                    ], count: 20
                ).flatMap { $0 })
        await manager.close()
    }

    @Test("A program's answer takes the alert off the screen without a click")
    func programmatic() async throws {
        let delegate = RecordingDelegate(recorder)
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], delegate: delegate)
        let id = try await manager.show(question)
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        #expect(await eventually { recorder.lines.last == "didPresent" })
        try await manager.answer(id, buttonAt: 0)
        #expect(await eventually { recorder.lines.last == "didDismiss 0" })
        await manager.close()
        #expect(!recorder.lines.contains("clicked 0"))
    }
}

/// Keeps delegates, which managers hold weakly, for as long as the tests run.
private enum RecordingDelegateHolder {
    private static let kept = Mutex<[RecordingDelegate]>([])

    static func keep(_ delegate: RecordingDelegate) -> RecordingDelegate {
        kept.withLock { $0.append(delegate) }
        return delegate
    }
}
