import AlertCore
import AlertTables
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Group commit", .inParallel)
struct GroupCommitTests {
    private struct Refused: Error {}

    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("A member that fails after writing undoes its own writes, and no others")
    func halfDone() async throws {
        let store = try await queue.store()
        let gate = Gate()
        // Holds the writer's thread, so that the members after it share a transaction.
        async let blocked: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let questions = ["first", "second"].map { Question(alert: .yesNo($0), source: "test") }
        async let first = store.enqueue(questions[0], by: .ana)
        async let failed = thrown {
            try await store.writes.perform(.upkeep, "fail") { context in
                try context.db.run("INSERT INTO sources (principal, name) VALUES ('7', 'half')")
                throw Refused()
            }
        }
        async let second = store.enqueue(questions[1], by: .ana)
        async let alone = store.writes.performAlone("look") { !$0.mustCheck }
        #expect(await store.writes.hasWaiting(4))
        gate.open()
        try await blocked
        #expect(try await alone)
        // They were run a second time, without the member that failed.
        for receipt in try await [first, second] {
            #expect(receipt.isNew)
            let record = try await store.record(receipt.record.id)
            #expect(record == receipt.record)
            let entries = try await store.entries(of: record.id, limit: 1)
            #expect(entries.first?.event.sequence == receipt.head.sequence)
        }
        #expect(await failed?.kind == "storage")
        #expect(try queue.integer("SELECT count(*) FROM sources WHERE name = 'half'") == 0)
        #expect(try queue.integer("SELECT pending FROM sources WHERE name = ''") == 2)
        #expect(try await store.verify(expecting: nil).problems == [])
    }

    @Test("Notes that wait for the disk beyond their limit are dropped, which is reported once")
    func dropped() async throws {
        let troubles = Mutex<[String]>([])
        let store = try await SQLiteAlertStore.open(path: queue.path) { error in
            guard case .entriesLost(let cause) = error else { return }
            troubles.withLock { $0.append(cause.kind) }
        }
        let record = try await store.ask(.yesNo())
        let gate = Gate()
        async let blocked: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        for number in 0..<WriteQueue.maximumPosted + 5 {
            store.post(.returned(record, because: .failed("\(number)")), by: .ana)
        }
        #expect(troubles.withLock(\.self) == ["storage"])
        gate.open()
        try await blocked
        await store.close()
        let returned = "FROM audit WHERE event = 'returned'"
        let kept = try queue.integer("SELECT count(*) \(returned)")
        #expect(kept == Int64(WriteQueue.maximumPosted))
        #expect(
            try queue.integer("SELECT detail ->> 'error' \(returned) ORDER BY seq LIMIT 1") == 5)
    }

    @Test("Notes that can't be written when the queue is closed are reported")
    func lostAtClosing() async throws {
        let troubles = Mutex<[String]>([])
        let store = try await SQLiteAlertStore.open(
            path: queue.path, busyTime: .milliseconds(100)
        ) { error in
            guard case .entriesLost(let cause) = error else { return }
            troubles.withLock { $0.append(cause.kind) }
        }
        let record = try await store.ask(.yesNo())
        let other = try queue.connection()
        try other.execute("BEGIN IMMEDIATE")
        store.post(.returned(record, because: .reason(.stopped)), by: .ana)
        await store.close()
        let isReported = await eventually { !troubles.withLock(\.isEmpty) }
        #expect(isReported)
        #expect(troubles.withLock(\.self) == ["storage"])
        try other.execute("ROLLBACK")
    }

    @Test("A note that is refused is reported, and not tried again")
    func refusedNote() async throws {
        let troubles = Mutex<[String]>([])
        let store = try await SQLiteAlertStore.open(path: queue.path) { error in
            guard case .entriesLost(let cause) = error else { return }
            troubles.withLock { $0.append("\(cause)") }
        }
        store.post(.collected(7), by: .ana)
        #expect(await eventually { !troubles.withLock(\.isEmpty) })
        store.post(.collected(8), by: .ana)
        await store.close()
        store.post(.collected(9), by: .ana)
        let reported = troubles.withLock(\.self)
        #expect(reported.count == 1 && reported[0].contains("7"), "\(reported)")
    }

    @Test("Alerts of one transaction are counted for their source, and refused at its limit")
    func countsWithinTransaction() async throws {
        let store = try await queue.store()
        let gate = Gate()
        async let blocked: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let asking = (1...8).map { number in
            Task { await thrown { try await store.ask(.yesNo("\(number)"), limit: 5) } }
        }
        #expect(await store.writes.hasWaiting(8))
        gate.open()
        try await blocked
        var kinds: [String?] = []
        for task in asking { kinds.append(await task.value?.kind) }
        #expect(kinds.count { $0 == nil } == 5)
        #expect(kinds.count { $0 == "tooManyPending" } == 3)
        #expect(try queue.integer("SELECT pending FROM sources") == 5)
    }

    @Test("More members than fit into a transaction wait for the next one")
    func manyMembers() async throws {
        let store = try await queue.store()
        let gate = Gate()
        async let blocked: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let count = GroupCommit.maximumBatch + 200
        let members = (0..<count).map { number in
            Task { try await store.writes.perform(.upkeep, "count") { _ in number } }
        }
        #expect(await store.writes.hasWaiting(count))
        gate.open()
        try await blocked
        for (number, member) in members.enumerated() {
            #expect(try await member.value == number)
        }
        await store.close()
    }
}
