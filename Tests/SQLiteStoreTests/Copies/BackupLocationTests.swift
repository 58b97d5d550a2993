import AlertCore
import AlertQueueTesting
import Foundation
import Glibc
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Backup", .inParallel)
struct BackupLocationTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private func names(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    private func newDirectory() throws -> String {
        let path = queue.directory + "/backups"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test("A file that appears during the copy is not replaced")
    func race() async throws {
        let draft = try DraftFile(for: queue.directory + "/x", mode: 0o600)
        try Data("theirs".utf8).write(to: URL(filePath: queue.directory + "/x"))
        #expect(try !draft.move(to: queue.directory + "/x"))
        draft.discard()
        #expect(try names(queue.directory) == ["x"])
        #expect(try String(contentsOfFile: queue.directory + "/x", encoding: .utf8) == "theirs")
    }

    @Test("The new backup stays, even if the clock is wrong, and so do the newest of the others")
    func clock() async throws {
        let clock = ManualClock()
        let store = try await queue.store(clock: clock)
        try await store.ask(.yesNo("One"))
        let directory = try newDirectory()
        var made: [String] = []
        for seconds in [0, 100, -200, 50] {
            clock.advance(by: .seconds(max(0, seconds)))
            let report = try await store.backUp(to: directory, replaces: false, keeping: 2) {
                _, _ in
            }
            made.append(report.path)
            #expect(report.removed.allSatisfy { $0 != report.path })
        }
        #expect(try names(directory).count == 2)
        #expect(made.last.map { FileManager.default.fileExists(atPath: $0) } == true)
        await store.close()
    }

    @Test("Backups of another queue of the same name stay, and so do files that are not drafts")
    func others() async throws {
        let (directory, clock) = (try newDirectory(), ManualClock())
        let other = try TemporaryQueue()
        let notes = directory + "/queue-2026-01-01T00-00-00Z.db-new.2024"
        try Data("notes".utf8).write(to: URL(filePath: notes))
        for owner in [queue, other, queue, other] {
            let store = try await owner.store(clock: clock)
            try await store.ask(.yesNo("One"))
            _ = try await store.backUp(to: directory, replaces: false, keeping: 1) { _, _ in }
            await store.close()
            clock.advance(by: .seconds(60))
        }
        #expect(try names(directory).count == 3)
        #expect(FileManager.default.fileExists(atPath: notes))
    }

    @Test("A cancelled copy leaves nothing behind, and the store continues to work")
    func cancelled() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo("One"))
        let text = String(repeating: "x", count: 60_000)
        for number in 1...400 {
            try await store.ask(Alert("\(number)", message: text, buttons: ["Yes"]))
        }
        let directory = try newDirectory()
        let copying = Task {
            try await store.backUp(to: directory + "/b", replaces: false, keeping: nil) {
                _, _ in
                withUnsafeCurrentTask { $0?.cancel() }
                usleep(20_000)
            }
        }
        copying.cancel()
        await #expect(throws: AlertError.self) { try await copying.value }
        #expect(try names(directory) == [])
        try await store.ask(.yesNo("Two"))
        let report = try await store.backUp(
            to: directory + "/b", replaces: false, keeping: nil
        ) { _, _ in }
        #expect(report.head?.sequence == 402)
        await store.close()
    }

    @Test("A count without a directory, and one below 1, are refused")
    func counts() async throws {
        let store = try await queue.store()
        for (path, count) in [(queue.directory + "/b", 3), (try newDirectory(), 0)] {
            await #expect(throws: AlertError.self) {
                try await store.backUp(to: path, replaces: false, keeping: count) { _, _ in }
            }
        }
        await store.close()
    }
}
