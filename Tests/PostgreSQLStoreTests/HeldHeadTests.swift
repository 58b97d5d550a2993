import Dispatch
import Glibc
import PostgreSQLTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Processes that hold the head of a queue", .inParallel, .needsServer)
struct HeldHeadTests {
    /// A transaction that has the lock, and waits until the gate is open.
    private func hold(
        _ store: PostgreSQLAlertStore, until gate: DispatchSemaphore,
        _ body: @escaping @Sendable (_ server: Int32) -> Void = { _ in }
    ) -> Task<Void, any Error> {
        let isHeld = DispatchSemaphore(value: 0)
        let held = Task {
            try await store.writes.perform(.upkeep, "hold the head") { transaction in
                body(transaction.db.serverProcess)
                isHeld.signal()
                gate.wait()
                try transaction.append(
                    AuditDraft(kind: .other("noted")), by: .ana, concernsOthers: true)
            }
        }
        isHeld.wait()
        return held
    }

    @Test("Others are told in time that a stopped client has the lock, and the server takes it")
    func stoppedClient() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let stopped = try await queue.open(busyTime: .seconds(120))
        let other = try await queue.open(busyTime: .seconds(1))
        let gate = DispatchSemaphore(value: 0)
        let held = hold(stopped, until: gate)
        let start = ContinuousClock.now
        let error = await #expect(throws: AlertError.self) { try await other.ask(.yesNo()) }
        #expect(error?.kind == "busy")
        #expect(!FaultForm.isFull || start.duration(to: .now) < .seconds(3))
        // It need not wake up for the others to go on.
        #expect(await eventually { (try? await other.ask(.yesNo(key: "k"))) != nil })
        // Its change is not lost: it is made again, on another connection.
        for _ in 0..<2 { gate.signal() }
        try await held.value
        try await stopped.ask(.yesNo())
        #expect(try await other.entries(limit: 10).count == 3)
        #expect(try await other.verify(expecting: nil).problems.isEmpty)
        for store in [stopped, other] { await store.close() }
    }

    @Test("Others are told in time that a stopped session has the lock, and go on with it")
    func stoppedSession() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let stopped = try await queue.open(busyTime: .seconds(1))
        let other = try await queue.open(busyTime: .seconds(1))
        let gate = DispatchSemaphore(value: 0)
        let process = Mutex<Int32>(0)
        let held = hold(stopped, until: gate) { server in
            kill(server, SIGSTOP)
            process.withLock { $0 = server }
            gate.signal()
        }
        let start = ContinuousClock.now
        let errors = await withTaskGroup { group in
            for store in [stopped, other, other] {
                group.addTask { await thrown { try await store.ask(.yesNo()) }?.kind }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors == ["busy", "busy", "busy"])
        #expect(!FaultForm.isFull || start.duration(to: .now) < .seconds(6))
        // Whether it was stored is not known.
        #expect(await thrown { try await held.value }?.kind == "storage")
        kill(process.withLock { $0 }, SIGCONT)
        for store in [stopped, other] {
            #expect(await eventually { (try? await store.ask(.yesNo(key: "k"))) != nil })
        }
        #expect(try await other.verify(expecting: nil).problems.isEmpty)
        #expect(try await other.pendingCount() == 1)
        for store in [stopped, other] { await store.close() }
    }

    @Test("A caller that comes after another one also learns in time that the head is held")
    func secondCaller() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let store = try await queue.open(busyTime: .seconds(4))
        let db = try queue.connect()
        try db.execute("BEGIN; SELECT 1 FROM heads FOR UPDATE")
        let start = ContinuousClock.now
        async let first = thrown { try await store.ask(.yesNo()) }
        // The first one waits for the head.
        #expect(
            try await eventually {
                try queue.connect().first(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted"
                ) { $0.integer() } == 1
            })
        #expect(await thrown { try await store.ask(.yesNo()) }?.kind == "busy")
        #expect(await first?.kind == "busy")
        #expect(!FaultForm.isFull || start.duration(to: .now) < .seconds(7))
        db.rollBack()
        await store.close()
    }

    @Test("What is posted while the head is held is not earlier in the log than what precedes it")
    func postedTimes() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let store = try await queue.open(busyTime: .seconds(60))
        let record = try await store.ask(.yesNo())
        let gate = DispatchSemaphore(value: 0)
        let held = hold(store, until: gate)
        let asked = Task { try await store.ask(.yesNo()) }
        // One transaction gets both, later than either came.
        for _ in 1...2 {
            try await Task.sleep(for: .milliseconds(20))
            store.post(.presented(record), by: .ana)
        }
        try await Task.sleep(for: .milliseconds(20))
        gate.signal()
        try await held.value
        _ = try await asked.value
        _ = try await store.commit([], by: .ana)
        let times = try await store.entries(limit: 10).map(\.event.at)
        #expect(times.count == 5)
        #expect(times == times.sorted())
        await store.close()
    }

    @Test("Those that wait for the head get it in the order in which they came")
    func order() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        var stores: [PostgreSQLAlertStore] = []
        for _ in 0..<8 { stores.append(try await queue.open(busyTime: .seconds(60))) }
        for store in stores { try await store.ask(.yesNo()) }
        let gate = DispatchSemaphore(value: 0)
        let held = hold(stores[0], until: gate)
        let db = try queue.connect()
        let asked = try await withThrowingTaskGroup { group in
            for (number, store) in stores.enumerated().dropFirst() {
                group.addTask { (number, try await store.ask(.yesNo()).id) }
                #expect(
                    try await eventually {
                        let sql = "SELECT count(*) FROM pg_locks WHERE NOT granted"
                        return try db.first(sql) { Int($0.integer()) } == number
                    })
            }
            gate.signal()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await held.value
        #expect(asked.sorted { $0.1 < $1.1 }.map(\.0) == Array(1..<8))
        for store in stores { await store.close() }
    }

    /// How a session holds the head, and its state then.
    static let holds = [
        ("BEGIN; SELECT 1 FROM heads FOR UPDATE", "idle in transaction"),
        // The lock that gives writers their turn, which any role may take.
        ("SELECT pg_advisory_lock('heads'::regclass::oid::int, queue) FROM heads", "idle"),
    ]

    @Test(
        "A report names the session that holds the head, and not one that waits for it",
        arguments: holds)
    func holder(statement: String, state: String) async throws {
        let server = try await PostgreSQLServer()
        let queue = try OwnServers([server])
        let store = try await queue.open(busyTime: .seconds(300))
        let holder = { () throws in
            try PostgreSQLAdministration(server.uri).serverReport().lockHolder
        }
        #expect(try holder() == nil)
        let db = try queue.connect()
        try db.execute(statement)
        async let asking = store.ask(.yesNo())
        #expect(
            try await eventually(each: .milliseconds(50)) {
                try holder()?.process == Int(db.serverProcess)
            })
        let found = try #require(try holder())
        #expect(found.role == "alertq" && found.address == nil)
        #expect(found.state == state && found.age >= .seconds(2))
        db.rollBack()
        try db.run("SELECT pg_advisory_unlock_all()")
        _ = try await asking
        #expect(try holder() == nil)
        await store.close()
    }

    @Test("A session ends what nobody waits for, unless its role has other limits")
    func limits() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let names = [
            "lock_timeout", "idle_in_transaction_session_timeout",
            "client_connection_check_interval",
        ]
        let limits = { () async throws -> [String?] in
            let store = try await queue.open()
            let limits = try await store.read("read the settings") { tables in
                try names.map { name in try tables.db.first("SHOW \(name)") { $0.text() } }
            }
            await store.close()
            return limits
        }
        #expect(try await limits() == ["4s", "10s", "200ms"])
        try queue.connect().execute("ALTER ROLE alertq SET lock_timeout = '1s'")
        #expect(try await limits() == ["1s", "10s", "200ms"])
    }
}
