import AlertQueueTesting
import Foundation
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// A delegate that runs code of a test in its methods.
private final class ScriptedDelegate: AlertManagerDelegate {
    typealias Body = @Sendable (_ method: String, AlertRecord) async -> Void

    private let body: Mutex<Body>

    init(_ body: @escaping Body = { _, _ in }) { self.body = Mutex(body) }

    func script(_ body: @escaping Body) { self.body.withLock { $0 = body } }

    private nonisolated(nonsending) func run(_ method: String, _ alert: AlertRecord) async {
        let body = body.withLock { $0 }
        await body(method, alert)
    }

    func willPresent(_ alert: AlertRecord) async { await run("willPresent", alert) }
    func didPresent(_ alert: AlertRecord) async { await run("didPresent", alert) }
    func clicked(_ alert: AlertRecord, buttonAt index: Int) async { await run("clicked", alert) }
    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await run("willDismiss", alert)
    }
    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await run("didDismiss", alert)
    }
}

/// What a delegate does in its methods never stops the queue.
@Suite("Delegates", .inParallel)
struct DelegateTests {
    private static let methods = [
        "willPresent", "didPresent", "clicked", "willDismiss", "didDismiss",
    ]

    /// One more than the threads of Swift's pool, on which all other tasks run.
    private static let moreThanThreads = ProcessInfo.processInfo.activeProcessorCount + 1

    private let clock = ManualClock()
    private let queue: InMemoryStore
    private let delegate = ScriptedDelegate()
    private let presenter = ScriptedPresenter { _ in .button(0) }
    private let recorder = Recorder()

    init() { queue = InMemoryStore(clock: clock) }

    private func manager() async throws -> AlertManager {
        let manager = try await AlertManager(queue, presenters: [presenter], delegate: delegate)
        manager.onError { [recorder] error in recorder.note("\(error)") }
        return manager
    }

    @Test("A question that a delegate asks and awaits is shown and answered", arguments: methods)
    func ask(in method: String) async throws {
        let manager = try await manager()
        delegate.script { [recorder, weak manager] called, alert in
            guard called == method, alert.alert.title == "First?" else { return }
            let response = try? await manager?.ask(.yesNo("Second?"))
            recorder.note("\(response?.button?.id ?? "none")")
        }
        try await manager.show(.yesNo("First?"))
        #expect(await eventually { recorder.lines == ["Yes"] })
        await manager.close()
    }

    @Test("A delegate can close the manager and wait for that", arguments: methods)
    func close(in method: String) async throws {
        let manager = try await manager()
        delegate.script { [recorder, weak manager] called, _ in
            guard called == method else { return }
            await manager?.close()
            recorder.note("closed")
        }
        let id = try await manager.show(.yesNo())
        #expect(await eventually { recorder.lines == ["closed"] })
        // What was chosen is stored.
        if method != "willPresent", method != "didPresent" {
            #expect(try await queue.record(id).response?.button?.id == "Yes")
        }
    }

    @Test("A delegate can stop presenting and wait for that", arguments: methods)
    func stop(in method: String) async throws {
        let manager = try await manager()
        delegate.script { [recorder, weak manager] called, _ in
            guard called == method else { return }
            await manager?.stopPresenting()
            recorder.note("stopped")
        }
        try await manager.show(.yesNo())
        #expect(await eventually { recorder.lines == ["stopped"] })
        #expect(await manager.screens().all.isEmpty)
        await manager.close()
    }

    @Test("After a silence of five seconds the queue goes on without a delegate, and says so")
    func silence() async throws {
        let gate = Gate()
        let manager = try await manager()
        let calls = Recorder()
        delegate.script { called, alert in
            calls.note("\(called) \(alert.id)")
            if called == "willPresent", alert.id == 1 { await gate.hold() }
        }
        try await manager.show(.yesNo())
        try await manager.show(.yesNo())
        #expect(await gate.isReached())
        #expect(presenter.shown.isEmpty)
        #expect(
            await eventually {
                clock.advance(by: .seconds(1))
                return presenter.resolutions.count == 2
            })
        #expect(
            recorder.lines == [
                "the delegate's ScriptedDelegate.willPresent has not returned for 5 s, for alert 1; "
                    + "the queue goes on without it"
            ])
        #expect(calls.lines == ["willPresent 1"])
        // Its other methods are called when it returns, in their order.
        gate.open()
        let all = (1...2).flatMap { id in Self.methods.map { "\($0) \(id)" } }
        #expect(await eventually { calls.lines == all })
        await manager.close()
    }

    @Test("Delegates that block their threads hold up their own alert only")
    func blocking() async throws {
        let end = DispatchSemaphore(value: 0)
        let begun = Mutex(0)
        delegate.script { called, _ in
            guard called == "willPresent" else { return }
            begun.withLock { $0 += 1 }
            end.wait()
        }
        let manager = try await manager()
        let id = try await manager.show(.yesNo())
        var others: [AlertManager] = []
        for _ in 1..<Self.moreThanThreads {
            let other = try await AlertManager(
                InMemoryStore(clock: clock), presenters: [presenter], delegate: delegate)
            try await other.show(.yesNo())
            others.append(other)
        }
        #expect(await eventually { begun.withLock { $0 } == Self.moreThanThreads })
        let other = try await manager.show(.yesNo("Another"))
        #expect(try await manager.answer(other, button: "No").response?.button?.id == "No")
        #expect(try await manager.record(id).response == nil)
        for _ in 1...Self.moreThanThreads { end.signal() }
        #expect(try await eventually { try await manager.record(id).response != nil })
        for manager in others + [manager] { await manager.close() }
    }

    @Test("Closures that block their threads hold up nothing")
    func blockingClosures() async throws {
        let end = DispatchSemaphore(value: 0)
        let begun = Mutex(0)
        let manager = try await AlertManager(queue)
        let count = Self.moreThanThreads
        for _ in 1...count {
            let id = try await manager.show(.yesNo()) { _, _ in
                begun.withLock { $0 += 1 }
                end.wait()
            }
            try await manager.answer(id, button: "Yes")
        }
        #expect(await eventually { begun.withLock { $0 } == count })
        let id = try await manager.show(.yesNo())
        #expect(try await manager.answer(id, button: "No").response?.button?.id == "No")
        for _ in 1...count { end.signal() }
        await manager.close()
    }
}

/// The order of a delegate's calls, and when they pass.
@Suite("Calls of delegates", .inParallel)
struct DelegateCallsTests {
    private final class Line: Sendable {}
    private let line = Line()
    private let now = ManualClock().now()
    private var calls = DelegateCalls()

    private mutating func add(_ number: Int) -> [DelegateCalls.Effect] {
        calls.handle(.add(number, to: ObjectIdentifier(line)), at: now)
    }

    @Test("A call begins when the one before it has returned")
    mutating func order() {
        #expect(add(1) == [.begin(1)])
        #expect(add(2).isEmpty && add(3).isEmpty)
        #expect(
            calls.handle(.returned(1, isHandled: true), at: now)
                == [.passed(1, isHandled: true), .begin(2), .forget(1)])
        #expect(
            calls.handle(.returned(2, isHandled: false), at: now)
                == [.passed(2, isHandled: false), .begin(3), .forget(2)])
        #expect(
            calls.handle(.returned(3, isHandled: false), at: now)
                == [.passed(3, isHandled: false), .forget(3)])
        #expect(calls.moments.isEmpty)
    }

    @Test("A call that waits for what waits for it passes once")
    mutating func reentry() {
        _ = add(1)
        _ = add(2)
        #expect(
            calls.handle(.reentered(1), at: now) == [.passed(1, isHandled: false), .begin(2)])
        #expect(calls.handle(.reentered(1), at: now).isEmpty)
        #expect(calls.handle(.returned(1, isHandled: true), at: now) == [.forget(1)])
        #expect(
            calls.handle(.returned(2, isHandled: false), at: now)
                == [.passed(2, isHandled: false), .forget(2)])
    }

    @Test("Calls after a silent one pass at once, and begin when it returns")
    mutating func silence() {
        _ = add(1)
        _ = add(2)
        let later = now.advanced(by: DelegateCalls.patience)
        #expect(calls.handle(.time, at: now).isEmpty)
        #expect(
            calls.handle(.time, at: later) == [
                .reportSilence(1), .passed(1, isHandled: false), .passed(2, isHandled: false),
            ])
        #expect(add(3) == [.passed(3, isHandled: false)])
        #expect(calls.handle(.time, at: later).isEmpty)
        #expect(
            calls.handle(.returned(1, isHandled: true), at: later) == [.begin(2), .forget(1)])
    }

    @Test("A delegate that never returns gathers no calls without end")
    mutating func bound() {
        _ = add(1)
        let effects = (2...1500).flatMap { add($0) }
        #expect(effects.filter { if case .forget = $0 { true } else { false } }.count == 499)
    }
}
