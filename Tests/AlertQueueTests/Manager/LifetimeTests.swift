import AlertQueue
import AlertQueueTesting
import Foundation
import Glibc
import Linux
import SQLiteStore
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// When a manager that nothing refers to ends, and when it goes on.
@Suite("Lifetime", .inParallel)
struct LifetimeTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    /// How many descriptors of this process refer to a file of the queue.
    private var openFiles: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            LinuxFile.link("/proc/self/fd/\(name)")?.hasPrefix(queue.directory) == true
        }
    }

    /// How many inotify instances this process has.
    private var watches: Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { LinuxFile.link("/proc/self/fd/\($0)") == "anon_inode:inotify" }
    }

    @Test(
        "Managers that nothing refers to release their screens, descriptors and watches",
        .alone(because: "It counts the inotify instances of this process."))
    func dropped() async throws {
        let watchesBefore = watches
        for number in 0..<20 {
            let presenter = ScriptedPresenter(name: "presenter \(number)")
            let manager = try await AlertManager(path: queue.path, presenters: [presenter])
            _ = try await manager.pendingCount()
        }
        #expect(await eventually { openFiles == 0 })
        #expect(await eventually { watches <= watchesBefore })
        let last = try await AlertManager(path: queue.path, presenters: [ScriptedPresenter()])
        #expect(await eventually { await last.screens().leader?.presenters == ["scripted"] })
        await last.close()
    }

    @Test("A manager that nothing refers to keeps showing until nothing is left to show")
    func showing() async throws {
        let presenter = ScriptedPresenter()
        func ask() async throws {
            let manager = try await AlertManager(path: queue.path, presenters: [presenter])
            try await manager.show(Alert("First", buttons: ["OK"]))
            try await manager.show(Alert("Second", buttons: ["OK"]))
        }
        try await ask()
        for title in ["First", "Second"] {
            #expect(
                await eventually {
                    presenter.isShowing && presenter.shown.last?.alert.title == title
                })
            presenter.choose(.button(0))
        }
        #expect(await eventually { openFiles == 0 })
        let store = try await queue.store()
        #expect(try await store.pendingCount() == 0)
        await store.close()
    }

    @Test("A manager that nothing refers to stays until its closures have run")
    func closures() async throws {
        func ask() async throws -> Alert.ID {
            let manager = try await AlertManager(path: queue.path)
            return try await manager.show(
                Alert("Go?", buttons: [Alert.Button("Go") { [recorder] in recorder.note("gone") }]))
        }
        let id = try await ask()
        let other = try await AlertManager(path: queue.path)
        try await other.answer(id, button: "Go")
        #expect(await eventually { recorder.lines == ["gone"] })
        #expect(
            try await eventually { try await other.record(id).response?.collectedAt != nil })
        await other.close()
        #expect(await eventually { openFiles == 0 })
    }

    @Test("A manager that nothing refers to stays for its registered handler")
    func handler() async throws {
        func register() async throws {
            let manager = try await AlertManager(path: queue.path)
            try await manager.register(handler: "apply") { [recorder] _ in recorder.note("ran") }
        }
        try await register()
        let other = try await AlertManager(path: queue.path)
        let id = try await other.show(Alert("Go?", buttons: ["Go"], handler: "apply"))
        try await other.answer(id, button: "Go")
        #expect(await eventually { recorder.lines == ["ran"] })
        await other.close()
    }

    @Test("The shared manager is opened again after it was closed")
    func shared() async {
        await #expect(processExitsWith: .success) {
            // Nothing else ends an exit test that hangs.
            alarm(60)
            let directory = NSTemporaryDirectory() + "alertq-test-\(UUID())"
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            setenv("ALERTQ_DATABASE", directory + "/queue.db", 1)
            let first = try await AlertManager.shared()
            let same = try await AlertManager.shared()
            try #require(first === same)
            let id = try await first.show(Alert("Go?", buttons: ["Go"]))
            await first.close()
            let second = try await AlertManager.shared()
            try #require(first !== second)
            try #require(try await second.record(id).state == .queued)
            await second.close()
        }
    }
}
