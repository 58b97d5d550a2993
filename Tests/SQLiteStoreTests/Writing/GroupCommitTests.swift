import AlertCore
import StoreTesting
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
        async let blocked: Void = store.commits.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let questions = ["first", "second"].map { Question(alert: .yesNo($0), source: "test") }
        async let first = store.enqueue(questions[0], by: .ana)
        async let failed = thrown {
            try await store.commits.perform(.upkeep, "fail") { context in
                try context.db.run("INSERT INTO sources (uid, name) VALUES (7, 'half')")
                throw Refused()
            }
        }
        async let second = store.enqueue(questions[1], by: .ana)
        #expect(await store.commits.hasWaiting(3))
        gate.open()
        try await blocked
        // They were run a second time, without the member that failed.
        for receipt in try await [first, second] {
            #expect(receipt.isNew)
            let record = try await store.record(receipt.record.id)
            #expect(record == receipt.record)
            let entries = try await store.entries(after: 0, of: record.id, limit: 1)
            #expect(entries.first?.event.sequence == receipt.sequence)
        }
        #expect(await failed?.kind == "storage")
        #expect(try queue.integer("SELECT count(*) FROM sources WHERE name = 'half'") == 0)
        #expect(try queue.integer("SELECT sum(pending) FROM sources") == 2)
        #expect(try await store.verify(expecting: nil).problems == [])
    }

    @Test("Alerts of one transaction are counted for their source, and refused at its limit")
    func countsWithinTransaction() async throws {
        let store = try await queue.store()
        let gate = Gate()
        async let blocked: Void = store.commits.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let asking = (1...8).map { number in
            Task { await thrown { try await store.ask(.yesNo("\(number)"), limit: 5) } }
        }
        #expect(await store.commits.hasWaiting(8))
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
        async let blocked: Void = store.commits.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        let count = GroupCommit.maximumBatch + 200
        let members = (0..<count).map { number in
            Task { try await store.commits.perform(.upkeep, "count") { _ in number } }
        }
        #expect(await store.commits.hasWaiting(count))
        gate.open()
        try await blocked
        for (number, member) in members.enumerated() {
            #expect(try await member.value == number)
        }
        await store.close()
    }

    @Test("A patient write is left for the next answer, but not when it is due or behind another")
    func patient() async throws {
        let store = try await queue.store()
        func order(isDue: Bool, _ others: Bool...) async throws -> [String] {
            let order = Recorder()
            let gate = Gate()
            async let blocked: Void = store.commits.perform(.upkeep, "wait") { _ in gate.pass() }
            #expect(await gate.isReached())
            for isPatient in others {
                store.commits.deferWrite("note", isPatient: isPatient) { _ in order.note("note") }
            }
            store.commits.state.withLock { state in
                state.deferredDue = .now + (isDue ? .zero : .seconds(3600))
            }
            let asking = Task {
                try await store.commits.perform(.ask, "ask") { _ in order.note("ask") }
            }
            #expect(await store.commits.hasWaiting(1))
            gate.open()
            try await asking.value
            try await blocked
            try await store.commits.perform(.answer, "answer") { _ in order.note("answer") }
            return order.lines
        }
        #expect(try await order(isDue: false, true) == ["ask", "note", "answer"])
        #expect(try await order(isDue: true, true) == ["note", "ask", "answer"])
        #expect(
            try await order(isDue: false, true, false) == ["note", "note", "ask", "answer"])
        await store.close()
    }

    @Test("A caller stays awake for a limited time, and gets the end of its job either way")
    func awake() async throws {
        let (quick, slow) = (OneShot<Int>(), OneShot<Int>())
        quick.deliver(1)
        quick.deliver(2)
        quick.stayAwake(for: .seconds(60))
        slow.stayAwake(for: .milliseconds(1))
        async let end = slow.value()
        slow.deliver(3)
        #expect(await quick.value() == 1)
        #expect(await end == 3)
    }
}
