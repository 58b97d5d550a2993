import AlertCore
import Foundation
import Glibc
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Release of a slot", .inParallel)
struct SlotReleaseTests {
    private let queue: TemporaryQueue
    private let slot: SlotFile

    init() throws {
        queue = try TemporaryQueue()
        slot = SlotFile(path: queue.path + "-slot", mode: 0o600)
    }

    private func attach(_ presenter: String) throws -> SlotLease {
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: [presenter], hasDelegate: false)
        return try SlotLease(of: screen, in: slot, changes: ChangeSignal())
    }

    private func lead(_ lease: SlotLease) async -> Bool {
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["next"], hasDelegate: false)
        return await lease.announce(screen, wantsLead: true).isLeading
    }

    /// Copies of this process's descriptors of the file, as a child has them between fork(2) and
    /// execve(2).
    private func copies() throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\(name)")
            return target == slot.path ? Int32(name).map { dup($0) } : nil
        }
    }

    @Test("A released screen is gone at once, even if a child has a copy of its descriptor")
    func child() async throws {
        let first = try attach("first")
        #expect(await lead(first))
        let copies = try copies()
        defer { for copy in copies { close(copy) } }
        #expect(!copies.isEmpty)
        first.release()
        #expect(slot.roster() == ScreenRoster())
        let next = try attach("next")
        #expect(await lead(next))
    }
}
