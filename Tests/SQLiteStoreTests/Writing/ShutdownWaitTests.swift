import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Waiting for the lock at the end", .inParallel)
struct ShutdownWaitTests {
    /// How many checks, one after the other, find the lock worth waiting for.
    private func patience(
        whileWaiting act: (_ check: Int, _ files: QueueFiles) throws -> Void
    ) throws -> Int {
        let queue = try TemporaryQueue()
        let files = try QueueFiles(database: queue.path)
        let lock = WriterLock(path: files.lock, mode: 0o600)
        #expect(try lock.tryAcquire())
        defer { lock.release() }
        var patience = LockPatience(files: files, busyTime: .seconds(5))
        patience.prepareToEnd()
        for check in 0..<100 {
            patience.note(LockPatience.Look(files))
            if patience.isOver(for: .answer, since: .now) { return check }
            try act(check, files)
        }
        return 100
    }

    @Test("A holder that writes nothing is given up soon, one that writes gets three times as long")
    func holders() throws {
        let idle = try patience { _, _ in }
        let writing = try patience { check, files in
            let log = String(repeating: "x", count: check)
            try log.write(toFile: files.wal, atomically: false, encoding: .utf8)
        }
        // Ten checks a second: well below one, and not too soon for a slow disk.
        #expect((4...7).contains(idle), "\(idle)")
        #expect(writing == 19)
    }
}
