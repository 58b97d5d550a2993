import Foundation
import TestSupport
import Testing

@testable import SQLite

@Suite("Write-ahead log", .inParallel)
struct WriteAheadLogTests {
    let directory: URL
    let path: String

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "sqlite-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appending(path: "file.db").path
    }

    @Test("No commit and no closing writes a checkpoint by itself")
    func checkpoint() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        do {
            let db = try Database(path: path, access: .create)
            try db.execute("PRAGMA journal_mode = WAL; CREATE TABLE things (value TEXT) STRICT")
            for _ in 0..<20 {
                try db.run(
                    "INSERT INTO things VALUES (?)", .text(String(repeating: "x", count: 1 << 20)))
            }
            // SQLite's own limit is 1,000 pages.
            #expect(db.walPages > 5000)
        }
        let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")
        #expect((log[.size] as? Int ?? 0) > 20 << 20)
        let db = try Database(path: path)
        #expect(try db.first("SELECT count(*) FROM things", read: { $0.integer() }) == 20)
        #expect(try db.checkpoint(.truncate))
        let emptied = try FileManager.default.attributesOfItem(atPath: path + "-wal")
        #expect(emptied[.size] as? Int == 0)
    }

    @Test("A checkpoint says that a reader kept it from finishing")
    func reader() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let db = try Database(path: path, access: .create)
        try db.execute("PRAGMA journal_mode = WAL; CREATE TABLE things (value TEXT) STRICT")
        let reader = try Database(path: path)
        try reader.reading {
            _ = try reader.first("SELECT count(*) FROM things") { $0.integer() }
            try db.run("INSERT INTO things VALUES (?)", "new")
            #expect(try !db.checkpoint(.truncate))
        }
        #expect(try db.checkpoint(.truncate))
    }
}
