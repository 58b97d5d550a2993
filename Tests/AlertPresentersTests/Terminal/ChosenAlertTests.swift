import AlertPresenters
import AlertQueue
import AlertQueueTesting
import CLinux
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// A delegate that stops in one of its calls until the test lets it go on.
private final class StoppingDelegate: AlertManagerDelegate {
    private let stop: String
    private let state = Mutex((isThere: false, mayGoOn: false, calls: [String]()))

    init(stopIn stop: String) { self.stop = stop }

    var isThere: Bool { state.withLock { $0.isThere } }
    var calls: [String] { state.withLock { $0.calls } }

    func goOn() { state.withLock { $0.mayGoOn = true } }

    private func call(_ name: String) async {
        state.withLock { $0.calls.append(name) }
        guard name == stop else { return }
        state.withLock { $0.isThere = true }
        _ = await eventually { state.withLock { $0.mayGoOn } }
    }

    func clicked(_ alert: AlertRecord, buttonAt index: Int) async { await call("clicked") }
    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await call("willDismiss")
    }
    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await call("didDismiss")
    }
}

@Suite("A chosen alert in a terminal", .inParallel, .within(.seconds(120)))
struct ChosenAlertTests {
    let terminal: PseudoTerminal
    let keyboard: Keyboard

    init() throws {
        terminal = try PseudoTerminal()
        keyboard = Keyboard(terminal)
    }

    private func passUntilLive() async throws {
        try await keyboard.pass(until: "a live alert") {
            terminal.screen.lines.last?.contains("chooses") == true
        }
    }

    @Test(
        "It stays on the screen, its choice marked, until the delegate has heard of it",
        arguments: ["clicked", "willDismiss"])
    func stays(call: String) async throws {
        let directory = try TemporaryDirectory()
        let delegate = StoppingDelegate(stopIn: call)
        let manager = try await AlertManager(
            path: directory.path + "/queue.db",
            presenters: [try keyboard.presenter(hasColours: false)], delegate: delegate)
        let id = try await manager.show(
            Alert("Delete the snapshots?", buttons: ["Yes", .cancel("No")]))
        try await passUntilLive()
        try await keyboard.press("n")
        try await terminal.wait("the call") { delegate.isThere }
        // The response is on disk, and a key that comes now means nothing.
        #expect(try await manager.record(id).response?.button?.id == "No")
        try await keyboard.press("y")
        try await terminal.wait("the mark") {
            terminal.screen.lines.last == "Storing “No”…"
        }
        #expect(terminal.screen.lines.contains { $0.contains("Delete the snapshots?") })
        #expect(!delegate.calls.contains("didDismiss"))
        delegate.goOn()
        try await terminal.wait("the line that stays") {
            terminal.screen.lines.contains { $0.hasPrefix("✓ Delete the snapshots?") }
        }
        try await terminal.wait("the last call") { delegate.calls.last == "didDismiss" }
        #expect(delegate.calls == ["clicked", "willDismiss", "didDismiss"])
        await manager.close()
    }
}

extension ChosenAlertTests {
    @Test("A choice that came too late is told below what came first")
    func tooLate() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/queue.db"
        let clock = ManualClock()
        let manager = try await AlertManager(
            path: path, presenters: [try keyboard.presenter(hasColours: false)], clock: clock)
        let id = try await manager.show(
            Alert("Reboot?", buttons: ["Yes", .cancel("No")], deadline: .after(.seconds(2))))
        try await passUntilLive()
        // The deadline passes while the choice can't be stored.
        let lock = open(path + "-lock", O_RDWR)
        defer { close(lock) }
        #expect(clinux_flock(lock, LOCK_EX) == 0)
        try await keyboard.press("y")
        try await terminal.wait("the mark") { terminal.screen.lines.last == "Storing “Yes”…" }
        clock.advance(by: .seconds(2))
        #expect(clinux_flock(lock, LOCK_UN) == 0)
        try await terminal.wait("what was lost") {
            terminal.screen.lines.contains {
                $0.contains("your choice “Yes” came too late and was not stored")
            }
        }
        #expect(try await manager.record(id).response?.outcome == .expired)
        await manager.close()
    }
}
