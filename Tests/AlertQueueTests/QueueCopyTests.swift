import AlertTables
import Foundation
import SQLite
import SQLiteStore
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import AlertQueue

@Suite("Moves that do not end", .inParallel)
struct QueueCopyTests {
    /// A place at which the queue does not appear.
    private final class LostTarget: CopyTarget {
        private let target: FileCopyTarget

        init(_ path: String) throws { target = try FileCopyTarget(path: path) }

        func insert(_ values: [Value], into table: CopiedTable) throws {
            try target.insert(values, into: table)
        }

        func finish(_ queue: CopiedQueue, at now: ClockReading) throws -> AuditReport {
            try target.finish(queue, at: now)
        }

        func publish() throws { throw AlertError.busy("power was lost") }
    }

    private let from: TemporaryQueue
    private let folder: TemporaryDirectory
    private let head: AuditHead

    init() async throws {
        from = try TemporaryQueue()
        folder = try TemporaryDirectory("alertq-copy-")
        let store = try await from.store()
        try await store.ask(.yesNo())
        head = try #require(try await store.auditHead())
        await store.close()
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }

    private func loseMove(to place: String) throws {
        #expect(throws: AlertError.self) {
            let source = try FileCopySource(path: from.path, caller: .ana)
            _ = try QueueCopy(to: place).run(from: source, to: try LostTarget(place)) { _, _, _ in }
        }
    }

    private func move(to place: String) async throws -> CopyReport {
        try await QueueLocation(from.path).move(
            to: QueueLocation(place), host: nil, by: .ana
        ) { _, _, _ in }
    }

    private func ask(at path: String) async throws {
        let store = try await SQLiteAlertStore.open(path: path)
        try await store.ask(.yesNo())
        await store.close()
    }

    @Test("Nothing is asked in either place until the move goes on, which it does")
    func repeated() async throws {
        try loseMove(to: path("to.db"))
        await #expect(throws: AlertError.self) { try await ask(at: from.path) }
        #expect(!FileManager.default.fileExists(atPath: path("to.db")))
        #expect(try await move(to: path("to.db")).head == head)
        try await ask(at: path("to.db"))
        await #expect(throws: AlertError.self) { try await ask(at: from.path) }
    }

    @Test("It may go elsewhere once another queue is in its place, which certainly lacks it")
    func elsewhere() async throws {
        try loseMove(to: path("to.db"))
        await #expect(throws: AlertError.self) { try await move(to: path("other.db")) }
        try await ask(at: path("to.db"))
        await #expect(throws: AlertError.self) { try await move(to: path("to.db")) }
        #expect(try await move(to: path("other.db")).head == head)
        try await ask(at: path("other.db"))
    }

    @Test("A move that has ended is not made again when the new file was renamed")
    func renamed() async throws {
        #expect(try await move(to: path("to.db")).head == head)
        try FileManager.default.moveItem(atPath: path("to.db"), toPath: path("renamed.db"))
        await #expect(throws: AlertError.self) { try await move(to: path("to.db")) }
        try await ask(at: path("renamed.db"))
    }

    @Test("A name of a file next to a queue is no place for one", arguments: ["-journal", "-wal"])
    func sideFile(ending: String) async throws {
        await #expect(throws: AlertError.self) { try await move(to: path("to.db") + ending) }
        try await ask(at: from.path)
    }
}
