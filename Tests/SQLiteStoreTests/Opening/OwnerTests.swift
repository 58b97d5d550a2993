import Foundation
import Glibc
import Linux
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// Files that root creates next to another account's database, or in its directory.
@Suite("Owner", .inParallel, .enabled(if: geteuid() == 0, "only root can use anybody's queue"))
struct OwnerTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private func owner(_ path: String) throws -> uid_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_uid
    }

    @Test("A new file belongs to the account that owns the database, and no old one changes hands")
    func created() async throws {
        await (try await queue.store()).close()
        let (slot, bell) = (queue.path + "-slot", queue.path + "-bell")
        try? FileManager.default.removeItem(atPath: slot)
        _ = try Descriptor.open(bell, mode: 0o600)
        #expect(chown(queue.path, 65_534, 65_534) == 0)
        for path in [slot, bell] { _ = try Descriptor.open(path, mode: 0o600) }
        #expect(try owner(slot) == 65_534)
        #expect(try owner(bell) == 0)
    }

    @Test("A queue that root makes in another account's directory belongs to that account")
    func madeByRoot() async throws {
        let directory = FilePath.directory(of: queue.path)
        #expect(chown(directory, 65_534, 65_534) == 0)
        let store = try await queue.store()
        try await store.ask(.yesNo())
        let others = try LinuxFile.names(in: directory).filter {
            try $0 != ".." && owner(directory + "/" + $0) != 65_534
        }
        #expect(others == [])
        await store.close()
    }
}
