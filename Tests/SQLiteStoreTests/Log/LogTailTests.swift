import AlertCore
import Foundation
import Linux
import StoreTesting
import Testing

@testable import SQLiteStore

@Suite("Known head")
struct LogTailTests {
    private let known = LogTail()

    private func head(_ sequence: Int64, _ byte: UInt8 = 1) -> AuditHead {
        AuditHead(sequence: sequence, hash: [UInt8](repeating: byte, count: 32))
    }

    private func commit(
        after start: AuditHead, to end: AuditHead, concernsOthers: Bool = false
    ) -> Bool {
        known.expect(LogTail.Commit(start: start, head: end, concernsOthers: concernsOthers))
        return known.didCommit()
    }

    @Test("A process's own quiet commits are no news, and are skipped")
    func quiet() {
        known.raise(to: head(5))
        #expect(!commit(after: head(5), to: head(6)))
        #expect(!commit(after: head(6), to: head(8)))
        #expect(known.isOwn(since: 5))
        #expect(known.endOfOwn(after: 6) == 8)
        #expect(known.endOfOwn(after: 4) == 4)
    }

    @Test("A commit that means more is news")
    func loud() {
        known.raise(to: head(5))
        #expect(commit(after: head(5), to: head(6), concernsOthers: true))
        #expect(!known.isOwn(since: 5))
        #expect(!commit(after: head(6), to: head(7)))
        #expect(known.isOwn(since: 6))
    }

    @Test("A commit that means more is news also without an entry, as the end of a snooze has none")
    func withoutEntry() {
        known.raise(to: head(5))
        #expect(!commit(after: head(5), to: head(5)))
        #expect(commit(after: head(5), to: head(5), concernsOthers: true))
        #expect(!commit(after: head(5), to: head(6)))
    }

    @Test("What another process did before one's own commit is news")
    func foreign() {
        known.raise(to: head(5))
        #expect(commit(after: head(7), to: head(8)))
        #expect(!known.isOwn(since: 5))
        #expect(known.endOfOwn(after: 5) == 5)
    }

    @Test("What a reader finds at the end of the log is news, unless it is the own commit")
    func seenByReader() {
        known.raise(to: head(5))
        known.expect(LogTail.Commit(start: head(5), head: head(6), concernsOthers: false))
        known.raise(to: head(6))
        #expect(known.isOwn(since: 5))
        #expect(!known.didCommit())
        known.expect(LogTail.Commit(start: head(6), head: head(7), concernsOthers: false))
        known.raise(to: head(7, 2))
        #expect(!known.isOwn(since: 6))
        #expect(known.head == head(7, 2))
    }
}

@Suite("Bell")
struct BellTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("One's own ring is told from that of others")
    func marks() throws {
        let path = queue.path + "-bell"
        let (mine, other) = (Bell(path: path, mode: 0o600), Bell(path: path, mode: 0o600))
        mine.listen()
        other.listen()
        mine.ring()
        #expect(!mine.wasRungByOthers())
        #expect(mine.wasRungByOthers())
        mine.ring()
        // Two bells have the same mark once in 255 times.
        let isTold = (0..<8).contains { _ in
            Bell(path: path, mode: 0o600).ring()
            defer { mine.ring() }
            return mine.wasRungByOthers()
        }
        #expect(isTold)
        other.ring()
        #expect(FileIdentity(path: path)?.size == 1)
    }

    @Test("A listener whose bell was replaced is rung for by the new one")
    func replaced() throws {
        let path = queue.path + "-bell"
        let (mine, other) = (Bell(path: path, mode: 0o600), Bell(path: path, mode: 0o600))
        mine.listen()
        try FileManager.default.removeItem(atPath: path)
        other.create()
        mine.listen()
        try Data([0]).write(to: URL(filePath: path), options: [])
        other.ring()
        #expect(FileManager.default.contents(atPath: path) != Data([0]))
    }

    @Test("A bell is rung only while somebody else listens")
    func silence() throws {
        let path = queue.path + "-bell"
        let mine = Bell(path: path, mode: 0o600)
        mine.create()
        let before = FileManager.default.contents(atPath: path)
        try Data([0]).write(to: URL(filePath: path), options: [])
        mine.listen()
        mine.ring()
        #expect(FileManager.default.contents(atPath: path) == Data([0]))
        do {
            let other = Bell(path: path, mode: 0o600)
            other.listen()
            mine.ring()
            #expect(FileManager.default.contents(atPath: path) == before)
        }
        try Data([0]).write(to: URL(filePath: path), options: [])
        mine.ring()
        #expect(FileManager.default.contents(atPath: path) == Data([0]))
    }
}
