import AlertCore
import AlertQueueTesting
import Foundation
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

/// Writes that come while a transaction runs.
@Suite("Joining a transaction", .inParallel)
struct JoiningTests {
    private struct Refused: Error {}

    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("Writes that come while a transaction runs join it")
    func others() async throws {
        let store = try await queue.store()
        let runs = Recorder()
        let gate = Gate()
        async let first: Void = store.writes.perform(.answer, "wait") { _ in
            runs.note("first")
            gate.pass()
        }
        #expect(await gate.isReached())
        async let failed = thrown {
            try await store.writes.perform(.upkeep, "fail") { context in
                runs.note("other")
                try context.db.run("INSERT INTO sources (principal, name) VALUES ('7', 'half')")
                throw Refused()
            }
        }
        #expect(await store.writes.hasWaiting(1))
        gate.open()
        try await first
        // All were run a second time, because one of them failed.
        #expect(await failed?.kind == "storage")
        #expect(runs.lines == ["first", "other", "first", "other"])
        await store.close()
    }

    @Test("A write that joins a transaction is dated after it came")
    func moments() async throws {
        let clock = ManualClock()
        let store = try await queue.store(clock: clock)
        let gate = Gate()
        async let held: Int64 = store.writes.perform(.answer, "wait") { context in
            gate.pass()
            return context.now.wallMilliseconds
        }
        #expect(await gate.isReached())
        clock.advance(by: .seconds(7))
        let asking = (1...9).map { number in
            Task { () throws -> AlertRecord in try await store.ask(.yesNo("\(number)")) }
        }
        #expect(await store.writes.hasWaiting(9))
        gate.open()
        let start = try await held
        for task in asking {
            let record = try await task.value
            #expect(record.askedAt == Timestamp.date(milliseconds: start + 7000))
            #expect(try await store.record(record.id) == record)
        }
        #expect(try await store.verify(expecting: nil).problems == [])
        await store.close()
    }

    @Test("A clock that is set back while a transaction runs dates who joins it, and all verify")
    func clockSetBack() async throws {
        let clock = ManualClock()
        let store = try await queue.store(clock: clock)
        let gate = Gate()
        async let held: Int64 = store.writes.perform(.answer, "wait") { context in
            gate.pass()
            return context.now.wallMilliseconds
        }
        #expect(await gate.isReached())
        let asking = Task { try await store.ask(.yesNo(deadline: .after(.seconds(60)))) }
        #expect(await store.writes.hasWaiting(1))
        let yearBefore = clock.now().wallMilliseconds - 365 * 86_400_000
        clock.setWall(milliseconds: yearBefore)
        gate.open()
        #expect(try await held > yearBefore)
        let record = try await asking.value
        #expect(record.askedAt == Timestamp.date(milliseconds: yearBefore))
        #expect(record.expiresAt == Timestamp.date(milliseconds: yearBefore + 60_000))
        #expect(try await store.verify(expecting: nil).problems == [])
        await store.close()
    }

    @Test("A question that comes while a transaction runs is refused if there is no reserve")
    func noReserve() async throws {
        let store = try await queue.store()
        // Like a full disk, this keeps the reserve from being set aside.
        let reserve = queue.path + "-reserve"
        try FileManager.default.createDirectory(
            atPath: reserve, withIntermediateDirectories: false)
        let gate = Gate()
        async let held: Void = store.writes.perform(.answer, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        async let refused = thrown { try await store.ask(.yesNo()) }
        #expect(await store.writes.hasWaiting(1))
        // Because of this one, all are run a second time.
        async let failed = thrown {
            try await store.writes.perform(.answer, "fail") { context in
                try context.db.run("INSERT INTO sources (principal, name) VALUES ('7', 'half')")
                throw Refused()
            }
        }
        #expect(await store.writes.hasWaiting(2))
        gate.open()
        try await held
        #expect(await refused?.kind == "storage")
        #expect(await failed?.kind == "storage")
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 0)
        try FileManager.default.removeItem(atPath: reserve)
        try await store.ask(.yesNo())
        await store.close()
    }

    @Test("A question of a new source that is refused at a limit doesn't make others run again")
    func refusedFirst() async throws {
        let store = try await queue.store()
        let runs = Recorder()
        let gate = Gate()
        async let held: Void = store.writes.perform(.answer, "wait") { _ in
            runs.note("held")
            gate.pass()
        }
        #expect(await gate.isReached())
        async let refused = thrown {
            try await store.enqueue(
                Question(alert: .yesNo(), source: "new", principalLimit: 0), by: .ana)
        }
        #expect(await store.writes.hasWaiting(1))
        gate.open()
        try await held
        #expect(await refused?.kind == "tooManyPendingOfPrincipal")
        #expect(runs.lines == ["held"])
        #expect(try queue.integer("SELECT count(*) FROM sources") == 0)
        await store.close()
    }

    @Test("No more callers join a transaction than fit into it")
    func fullTransaction() async throws {
        let store = try await queue.store()
        let gate = Gate()
        async let held: Void = store.writes.perform(.answer, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let count = GroupCommit.maximumBatch + 1
        let members = (1...count).map { number in
            Task {
                try await store.writes.perform(.answer, "count") { [queue] context in
                    let stored = try queue.integer("SELECT count(*) FROM sources")
                    try context.db.run(
                        "INSERT INTO sources (principal, name) VALUES (?, 'x')",
                        [.text("\(number)")]
                    )
                    return stored
                }
            }
        }
        #expect(await store.writes.hasWaiting(count))
        gate.open()
        try await held
        var stored: Set<Int64?> = []
        for member in members { stored.insert(try await member.value) }
        // The caller that was held is one of the first transaction's.
        #expect(stored == [0, Int64(GroupCommit.maximumBatch) - 1])
        await store.close()
    }

    @Test("Others join a transaction for a limited time")
    func joiningEnds() async throws {
        let store = try await queue.store()
        let gate = Gate()
        async let held: Void = store.writes.perform(.answer, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let slow = Gate()
        async let joined: Void = store.writes.perform(.answer, "join") { context in
            try context.db.run("INSERT INTO sources (principal, name) VALUES ('7', 'slow')")
            slow.pass()
        }
        #expect(await store.writes.hasWaiting(1))
        gate.open()
        #expect(await slow.isReached())
        async let late = store.writes.perform(.answer, "come late") { [queue] _ in
            try queue.integer("SELECT count(*) FROM sources")
        }
        #expect(await store.writes.hasWaiting(1))
        try await Task.sleep(for: GroupCommit.joiningTime * 2)
        slow.open()
        try await held
        try await joined
        // The transaction before is on disk.
        #expect(try await late == 1)
        await store.close()
    }

    @Test("Nobody who joins a transaction overtakes deferred writes that don't fit into it")
    func deferredOverflow() async throws {
        let store = try await queue.store()
        let order = Recorder()
        let gate = Gate()
        async let held: Void = store.writes.perform(.answer, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        for number in 0...GroupCommit.maximumBatch {
            store.writes.post("note") { _ in order.note("\(number)") }
        }
        async let answered: Void = store.writes.perform(.answer, "answer") { _ in
            order.note("answer")
        }
        #expect(await store.writes.hasWaiting(1))
        gate.open()
        try await held
        try await answered
        #expect(order.lines == (0...GroupCommit.maximumBatch).map { "\($0)" } + ["answer"])
        await store.close()
    }

    @Test("An answer that joins a transaction brings along the deferred writes before it")
    func deferredBeforeOthers() async throws {
        let store = try await queue.store()
        let order = Recorder()
        let gate = Gate()
        async let held: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        store.writes.post("note") { _ in order.note("note") }
        async let answered: Void = store.writes.perform(.answer, "answer") { _ in
            order.note("answer")
        }
        #expect(await store.writes.hasWaiting(1))
        gate.open()
        try await held
        try await answered
        #expect(order.lines == ["note", "answer"])
        await store.close()
    }
}
