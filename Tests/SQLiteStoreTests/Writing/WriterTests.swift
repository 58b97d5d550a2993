import AlertCore
import AlertTables
import CLinux
import Foundation
import Linux
import SQLite
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

/// How the writer handles its log, and transactions that failed.
@Suite("Writer", .inParallel)
struct WriterTests {
    /// SQLite's error for a failed sync, `SQLITE_IOERR_FSYNC`.
    private static let failedSync = SQLiteError(
        code: 1034, message: "disk I/O error", operation: "COMMIT")

    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private var logSize: Int64 { FileIdentity.size(of: queue.path + "-wal") }

    /// Makes the log grow by some MiB in one commit, as answers may, however long the log is.
    private func fill(_ store: SQLiteAlertStore, mebibytes: Int) async throws {
        try await store.writes.perform(.answer, "fill") { context in
            try context.db.run("CREATE TABLE IF NOT EXISTS filler (bytes BLOB)")
            for _ in 0..<mebibytes {
                try context.db.run("INSERT INTO filler VALUES (zeroblob(1 << 20))")
            }
        }
    }

    private func isReopened(_ store: SQLiteAlertStore) async throws -> Bool {
        try await store.writes.perform(.answer, "look") { context in
            try context.db.first("SELECT 1 FROM temp.sqlite_schema") { _ in true } == nil
        }
    }

    @Test("The log is copied into the database and restarted before it gets long")
    func checkpoint() async throws {
        let store = try await queue.store()
        for _ in 0..<40 { try await fill(store, mebibytes: 1) }
        #expect(logSize < 12 << 20)
        await store.close()
    }

    @Test("While a reader blocks the log, alerts are refused at 48 MiB, and all but answers at 64")
    func longLog() async throws {
        let store = try await queue.store()
        let (first, second) = (
            try await store.ask(.yesNo("1")).id, try await store.ask(.yesNo("2")).id
        )
        let reader = try queue.connection()
        try reader.execute("BEGIN; SELECT count(*) FROM alerts")
        try await fill(store, mebibytes: 46)
        #expect(logSize < 48 << 20)
        try await store.ask(.yesNo("3"))
        try await fill(store, mebibytes: 3)
        #expect(logSize > 48 << 20)
        let refused = await thrown { try await store.ask(.yesNo("4")) }
        #expect(refused?.description.contains("new alerts are refused until it ends") == true)
        _ = try await store.snooze(second, for: .seconds(1), by: .ana)
        try await fill(store, mebibytes: 16)
        let upkeep = await thrown { try await store.snooze(second, for: nil, by: .ana) }
        #expect(upkeep?.kind == "busy")
        try await store.answer(first, 0)
        try reader.execute("ROLLBACK")
        try await store.ask(.yesNo("5"))
        #expect(logSize < 1 << 20)
        #expect(try await store.pendingCount() == 3)
        await store.close()
    }

    @Test("After a failed sync the file is opened and checked again before anything is written")
    func failedSync() async throws {
        let store = try await queue.store()
        try await store.writes.perform(.answer, "mark this connection") { context in
            try context.db.run("CREATE TEMP TABLE mark (x)")
        }
        #expect(try await !isReopened(store))
        let failed = await thrown {
            try await store.writes.perform(.answer, "fail") { _ in throw Self.failedSync }
        }
        #expect(failed?.kind == "storage")
        #expect(try await isReopened(store))
        try await store.ask(.yesNo())
        await store.close()
    }

    @Test("A deferred write is stored later if its transaction failed")
    func deferred() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        let gate = Gate()
        async let blocked: Void = store.writes.performAlone("wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        store.post(.collected(id), by: .ana)
        async let failed = thrown {
            try await store.writes.perform(.answer, "fail") { _ in throw Self.failedSync }
        }
        #expect(await store.writes.hasWaiting(1))
        gate.open()
        try await blocked
        #expect(await failed?.kind == "storage")
        #expect(try await store.record(id).response?.collectedAt == nil)
        #expect(try await eventually { try await store.record(id).response?.collectedAt != nil })
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("Callers whose transaction another program has ended and blocked hear that it is busy")
    func blocked() async throws {
        let store = try await queue.store()
        try await store.writes.performAlone("commit") { [queue] writer in
            let other = try queue.connection()
            // As if a transaction that had to be repeated could not begin again.
            try other.execute("BEGIN IMMEDIATE")
            let jobs = ["ask", "answer"].map { name in
                WriteJob(
                    kind: name == "ask" ? .ask : .answer, operation: name
                ) { (_: WriteContext) in
                    Issue.record("\(name) ran outside of a transaction")
                }
            }
            let outcome = writer.commit(jobs)
            #expect(outcome.members.map(\.error?.kind) == ["busy", "busy"])
            #expect(!outcome.isCommitted && outcome.members.allSatisfy(\.mayRepeat))
            // Nothing is wrong with the file.
            #expect(!writer.mustCheck)
            try other.execute("ROLLBACK")
        }
        try await store.ask(.yesNo())
        await store.close()
    }

    @Test("An answer that lost to one that could not be stored is not told who won")
    func undoneWinner() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        let gate = Gate()
        async let held: Void = store.writes.performAlone("wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        async let first = thrown { try await store.answer(id, 0) }
        #expect(await store.writes.hasWaiting(1))
        async let second = thrown { try await store.answer(id, 1) }
        #expect(await store.writes.hasWaiting(2))
        async let failed = thrown {
            try await store.writes.perform(.answer, "fail") { _ in throw Self.failedSync }
        }
        #expect(await store.writes.hasWaiting(3))
        gate.open()
        try await held
        for error in await [first, second, failed] { #expect(error?.kind == "storage") }
        try await store.answer(id, 1)
        #expect(try await store.record(id).response?.buttonIndex == 1)
        await store.close()
    }

    @Test("On a full disk, an answer that was refused for another reason releases no reserve")
    func reserveKept() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        let reserve = { FileIdentity(path: queue.path + "-reserve")?.size }
        let size = reserve()
        let gate = Gate()
        async let held: Void = store.writes.performAlone("wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        async let late = thrown { try await store.answer(id, 1) }
        #expect(await store.writes.hasWaiting(1))
        async let full = thrown {
            try await store.writes.perform(.upkeep, "fill") { _ in
                throw SQLiteError(code: 13, message: "database or disk is full", operation: "")
            }
        }
        #expect(await store.writes.hasWaiting(2))
        gate.open()
        try await held
        #expect(await late?.kind == "alreadyResolved")
        #expect(await full?.kind == "storage")
        #expect(size != nil && reserve() == size)
        await store.close()
    }

    @Test("A transaction without space leaves nothing behind, and the next one begins cleanly")
    func noRoom() async throws {
        let store = try await queue.store()
        let full = await thrown {
            try await store.writes.perform(.upkeep, "fill") { context in
                try context.db.run("INSERT INTO sources (principal, name) VALUES ('7', 'half')")
                throw SQLiteError(code: 13, message: "database or disk is full", operation: "")
            }
        }
        #expect(full?.kind == "storage")
        try await store.ask(.yesNo())
        #expect(try queue.integer("SELECT count(*) FROM sources WHERE name = 'half'") == 0)
        await store.close()
    }

    @Test("A file found damaged after a failure is not used")
    func damaged() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo())
        try await fill(store, mebibytes: 1)
        await store.close()
        let reopened = try await queue.store()
        _ = await thrown {
            try await reopened.writes.perform(.answer, "fail") { _ in throw Self.failedSync }
        }
        // An alert's row is on none of the pages in the middle.
        let dd = try await Child.run(
            "dd", "if=/dev/zero", "of=\(queue.path)", "bs=4096", "seek=100", "count=50",
            "conv=notrunc")
        try #require(dd.code == 0, "\(dd.errors)")
        let error = await thrown { try await reopened.ask(.yesNo()) }
        #expect(
            error?.description.contains("after a failure") == true, "\(String(describing: error))")
        await reopened.close()
    }

    @Test("A caller that waits too long for a held lock gets an error that says so")
    func heldLock() async throws {
        let store = try await queue.store(busyTime: .milliseconds(200))
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        let error = await thrown { try await store.ask(.yesNo()) }
        #expect(error?.description.contains("locked by another process") == true)
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        // The writer's thread wakes up when it gets a processor.
        #expect(await eventually { await thrown { try await store.ask(.yesNo()) } == nil })
        await store.close()
    }

    @Test("A change of a screen that is lost while it waits for the lock is not stored")
    func lostWhileWaiting() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        let lease = try await store.attach(
            AttachedScreen(caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false))
        let (answer, epoch) = (Change.resolve(id, .choose(button: 0)), lease.epoch)
        let lock = WriterLock(path: queue.path + "-lock", mode: 0o600)
        try lock.acquire()
        let answering = Task {
            try await store.commit([answer], request: nil, by: .ana, under: epoch)
        }
        #expect(await store.writes.hasWaiting(1))
        lease.release()
        lock.release()
        #expect(await thrown { try await answering.value } == .detached)
        #expect(try await store.record(id).response == nil)
        await store.close()
    }

    @Test("Callers wait longer for a process that rewrites the database, and closing waits too")
    func rewriting() async throws {
        let store = try await queue.store(busyTime: .milliseconds(200))
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        let lock = WriterLock(path: queue.path + "-lock", mode: 0o600)
        try lock.acquire()
        lock.mark(isRewriting: true)
        store.post(.collected(id), by: .ana)
        let isClosed = Mutex(false)
        async let asked = store.ask(.yesNo())
        #expect(await store.writes.hasWaiting(1))
        async let closing: Void = {
            await store.close()
            isClosed.withLock { $0 = true }
        }()
        try await Task.sleep(for: .milliseconds(700))
        #expect(!isClosed.withLock { $0 })
        lock.mark(isRewriting: false)
        lock.release()
        _ = try await asked
        await closing
        let reopened = try await queue.store()
        #expect(try await reopened.record(id).response?.collectedAt != nil)
        await reopened.close()
    }

    @Test("A process that holds the lock after that has to be as quick as any other")
    func afterRewriting() async throws {
        let store = try await queue.store(busyTime: .milliseconds(200))
        let lock = WriterLock(path: queue.path + "-lock", mode: 0o600)
        try lock.acquire()
        lock.mark(isRewriting: true)
        async let error = thrown { try await store.ask(.yesNo()) }
        #expect(await store.writes.hasWaiting(1))
        try await Task.sleep(for: .milliseconds(500))
        #expect(await store.writes.hasWaiting(1))
        lock.mark(isRewriting: false)
        #expect(await error?.kind == "busy")
        lock.release()
        await store.close()
    }

    @Test("A deferred write wakes a sleeping writer")
    func sleepingWriter() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        // It sleeps as soon as it has returned the answer.
        try await Task.sleep(for: .milliseconds(50))
        store.post(.collected(id), by: .ana)
        #expect(try await eventually { try await store.record(id).response?.collectedAt != nil })
        await store.close()
    }

    @Test("A process whose lock file was deleted and recreated takes the lock on the new one")
    func deletedLockFile() throws {
        let path = queue.path + "-lock"
        let (one, other) = (
            WriterLock(path: path, mode: 0o600), WriterLock(path: path, mode: 0o600)
        )
        let isMine = try one.tryAcquire()
        one.release()
        unlink(path)
        let isOthers = try other.tryAcquire()
        #expect(try isMine && isOthers && !one.tryAcquire())
        other.release()
        #expect(try one.tryAcquire())
        one.release()
    }

    @Test("A queue that has replaced the opened one is neither read nor written")
    func replaced() async throws {
        let (store, other) = (try await queue.store(), try TemporaryQueue())
        let id = try await store.ask(.yesNo("Mine")).id
        let another = try await other.store()
        try await another.ask(.yesNo("Another's"))
        await another.close()
        for ending in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: queue.path + ending)
        }
        try FileManager.default.copyItem(atPath: other.path, toPath: queue.path)
        let read = await thrown { try await store.record(id) }
        let written = await thrown { try await store.answer(id, 0) }
        #expect([read?.kind, written?.kind] == ["incompatible", "incompatible"])
        await store.close()
    }

    @Test("Pages of a file that is copied over the queue are not taken for damage of the queue")
    func overwritten() async throws {
        let first = try await queue.store()
        for _ in 1...40 {
            try await first.ask(Alert("T", message: String(repeating: "x", count: 9000)))
        }
        await first.close()
        let store = try await queue.store()
        #expect(try await store.record(1).id == 1)
        // In place, as cp does it, and before anything looks at the header again.
        let size = try #require(FileIdentity(path: queue.path)?.size)
        let file = try FileHandle(forUpdating: URL(filePath: queue.path))
        try file.write(contentsOf: Data(repeating: 0xFF, count: Int(size)))
        try file.close()
        for _ in 1...2 {
            let read = await thrown { try await store.record(20) }
            #expect(read?.kind == "incompatible", "\(read as Any)")
            let written = await thrown { try await store.ask(.yesNo()) }
            #expect(written?.kind == "incompatible", "\(written as Any)")
        }
        await store.close()
    }
}
