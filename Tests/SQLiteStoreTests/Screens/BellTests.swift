import AlertCore
import Foundation
import Linux
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Bell", .inParallel)
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
