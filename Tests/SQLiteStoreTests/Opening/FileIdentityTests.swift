import AlertCore
import Foundation
import Glibc
import Linux
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Identity of a file", .inParallel)
struct FileIdentityTests {
    let queue: TemporaryQueue
    private var path: String { queue.path + "-file" }

    init() throws { queue = try TemporaryQueue() }

    /// Makes an empty file where none was.
    private func made() throws -> FileIdentity {
        let raw = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        #expect(raw >= 0)
        defer { close(raw) }
        let identity = try #require(FileIdentity(path: path))
        #expect(FileIdentity(descriptor: raw) == identity)
        return identity
    }

    @Test("A new file is another one, even if it has the number of the one that it replaces")
    func reusedNumber() async throws {
        // Another process may make a file in between, and get the number.
        for _ in 0..<50 {
            let first = try made()
            // A file system tells births apart by its clock's ticks.
            try await Task.sleep(for: .milliseconds(20))
            unlink(path)
            #expect(FileIdentity(path: path) == nil)
            let second = try made()
            #expect(second != first)
            unlink(path)
            if second.inode == first.inode { break }
        }
    }

    @Test("A file stays the same when it is written, renamed or linked")
    func same() throws {
        let first = try made()
        try Data("text".utf8).write(to: URL(filePath: path), options: [])
        let written = try #require(FileIdentity(path: path))
        #expect(written == first && written.size == 4)
        #expect(rename(path, path + "-moved") == 0 && link(path + "-moved", path) == 0)
        #expect(FileIdentity(path: path) == first)
    }

    @Test("A pipe, a link and a file with two names are refused, and not opened")
    func refused() throws {
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: AlertError.self) { try Descriptor.open(path, mode: 0o600) }
        unlink(path)
        _ = try made()
        #expect(link(path, path + "-other") == 0 && symlink(path, path + "-link") == 0)
        for name in [path, path + "-other", path + "-link"] {
            #expect(throws: AlertError.self) { try Descriptor.open(name, mode: 0o600) }
        }
        unlink(path + "-other")
        _ = try Descriptor.open(path, mode: 0o600)
    }
}
