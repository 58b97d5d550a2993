import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Connections that are cut", .inParallel(places: 2), .needsServer)
struct CutConnectionTests {
    @Test(
        "Cut after any byte, an ask, an answer, a collection and a screen take effect once",
        arguments: [Proxy.Direction.toServer, .toClient])
    func cuts(_ direction: Proxy.Direction) async throws {
        let server = try await PostgreSQLServer()
        let queue = try OwnServers([server])
        let whole = try await Self.play(
            "whole", Proxy(to: server.socket), direction, nil
        ).passed
        let step = FaultForm.isFull ? 1 : max(1, whole / 60)
        let workers = FaultForm.count(short: 1, full: 4)
        let cut = try await withThrowingTaskGroup { group in
            for worker in 0..<workers {
                group.addTask {
                    let proxy = try Proxy(to: server.socket)
                    var cut = 0
                    let share = stride(from: worker * step, to: whole, by: workers * step)
                    for bytes in share {
                        let title = "after \(bytes) bytes"
                        let result = try await Self.play(title, proxy, direction, bytes)
                        if result.wasCut { cut += 1 }
                        // A store finds out by itself what has become of a commit without a
                        // reply.
                        #expect(result.errors == [], "\(title)")
                    }
                    return cut
                }
            }
            return try await group.reduce(0, +)
        }
        FaultForm.report("Cut connections: \(cut), in \(whole) bytes")
        #expect(cut > 20, "\(cut) of them were cut")
        let db = try queue.connect()
        let titles = try db.rows("SELECT title FROM alerts ORDER BY title") {
            $0.optionalText() ?? ""
        }
        #expect(Set(titles).count == titles.count, "\(titles)")
        let store = try await queue.open()
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        #expect(try await store.pendingCount() == 0)
        let collected = "SELECT count(*) FROM audit WHERE event = 'collected'"
        #expect(try db.first(collected) { Int($0.integer()) } == titles.count)
        await store.close()
    }

    /// Asks without a key, answers, collects and attaches a screen, on connections that are cut
    /// once.
    private static func play(
        _ title: String, _ proxy: Proxy, _ direction: Proxy.Direction, _ bytes: Int?
    ) async throws -> (passed: Int, wasCut: Bool, errors: [String]) {
        let store = try await PostgreSQLAlertStore.open(
            try location(proxy), busyTime: .seconds(60), checksDurability: false)
        let before = proxy.passed(direction)
        if let bytes { proxy.fail(.cut, after: bytes, direction) }
        let healing = Task { () -> Bool in
            while !Task.isCancelled {
                if proxy.hasFailed {
                    proxy.heal()
                    return true
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
            return false
        }
        var errors: [String] = []
        do {
            let record = try await store.ask(.yesNo(title))
            let answered = try await store.answer(record.id, 0)
            #expect(answered.response?.buttonIndex == 0)
            #expect(try await store.collect(record.id, by: .ana))
            let screen = AttachedScreen(
                caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
            let attachment = try await store.attach(screen)
            #expect(await attachment.announce(screen, wantsLead: false) != .lost)
            attachment.release()
        } catch {
            errors.append("\(error)")
        }
        let passed = proxy.passed(direction) - before
        healing.cancel()
        let wasCut = await healing.value
        proxy.heal()
        await store.close()
        return (passed, wasCut, errors)
    }

    /// What becomes of a commit after the lock was given.
    static let losses: [(Proxy.Direction, heals: Bool, attempts: Int, error: String?)] = [
        (.toClient, true, 1, nil), (.toServer, true, 2, nil), (.toClient, false, 1, "storage"),
    ]

    @Test("A commit whose reply is lost is looked up, and made once", arguments: losses)
    func lostCommit(
        _ direction: Proxy.Direction, heals: Bool, attempts: Int, error: String?
    ) async throws {
        let server = try await PostgreSQLServer()
        _ = try OwnServers([server])
        let proxy = try Proxy(to: server.socket)
        let store = try await PostgreSQLAlertStore.open(
            try Self.location(proxy), busyTime: .seconds(heals ? 60 : 1),
            askingTime: .seconds(heals ? 60 : 1),
            checksDurability: false)
        let count = Mutex(0)
        let healing = Task {
            while heals, !proxy.hasFailed { try? await Task.sleep(for: .milliseconds(1)) }
            if heals { proxy.heal() }
        }
        let failure = await thrown {
            try await store.writes.perform(.upkeep, "store an entry") { transaction in
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { proxy.fail(.cut, after: 0, direction) }
                try transaction.append(
                    AuditDraft(kind: .other("noted")), by: .ana, concernsOthers: true)
            }
        }
        #expect(failure?.kind == error)
        #expect(count.withLock { $0 } == attempts)
        await healing.value
        proxy.heal()
        #expect(try await store.entries(limit: 10).count == 1)
        await store.close()
    }

    @Test(
        "A lease of a screen or on an alert whose reply is lost belongs to its caller",
        arguments: [0, 40, 80])
    func lostReply(bytes: Int) async throws {
        let server = try await PostgreSQLServer()
        _ = try OwnServers([server])
        let proxy = try Proxy(to: server.socket)
        let store = try await PostgreSQLAlertStore.open(
            try Self.location(proxy), busyTime: .seconds(60), checksDurability: false)
        try await store.ask(.yesNo())
        #expect(try await store.pendingCount() == 1)
        let healing = Task {
            var count = 0
            while count < 2 {
                if proxy.hasFailed {
                    proxy.heal()
                    count += 1
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        proxy.fail(.cut, after: bytes, .toClient)
        let lease = try await store.lease(1)
        #expect(lease != nil)
        proxy.fail(.cut, after: bytes, .toClient)
        let attachment = try await store.attach(
            AttachedScreen(caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false))
        #expect(await store.screens().followers.count == 1)
        attachment.release()
        await healing.value
        await store.close()
    }

    @Test("A lease that its caller did not get, of either kind, keeps nobody else out")
    func leaseInVain() async throws {
        let server = try await PostgreSQLServer()
        let queue = try OwnServers([server])
        let proxy = try Proxy(to: server.socket)
        let store = try await PostgreSQLAlertStore.open(
            try Self.location(proxy), busyTime: .seconds(60), checksDurability: false)
        try await store.ask(.yesNo())
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
        let db = try queue.connect()
        let rows = { () throws -> [Int64] in
            try db.rows(
                "SELECT count(*) FROM leases UNION ALL SELECT count(*) FROM screens"
            ) { $0.integer() }
        }
        // Until its insertion took effect: what the store does by itself, as telling others of the
        // question, may lose its reply first.
        let isInserted = try await eventually {
            proxy.heal()
            try await store.leases.run("connect") { _ in }
            proxy.fail(.cut, after: 0, .toClient)
            #expect(await thrown { try await store.lease(1) }?.kind == "unreachable")
            return try rows() == [1, 0]
        }
        #expect(isInserted)
        #expect(await thrown { try await store.attach(screen) }?.kind == "unreachable")
        proxy.heal()
        #expect(try await eventually { try rows() == [0, 0] })
        await store.close()
    }

    @Test("What a screen has announced before is announced again after a reply was lost")
    func announcedInVain() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let proxy = try Proxy(to: queue.servers[0].socket)
        let store = try await PostgreSQLAlertStore.open(
            try Self.location(proxy), busyTime: .seconds(60), checksDurability: false)
        let other = try await queue.open()
        var screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
        let lease = try await store.leases.attach(screen)
        let empty = screen
        screen.show(1, current: nil)
        let full = screen
        let announced = { await other.screens().followers.map(\.alert) }
        // Until it took effect, and the screen is still attached: what the store does by itself
        // may lose its reply first, and then both take longer than its lease.
        let isTried = await eventually {
            proxy.heal()
            guard await lease.announce(empty, wantsLead: false) != .lost else { return false }
            let epoch = lease.attachedEpoch
            proxy.fail(.cut, after: 0, .toClient)
            guard await lease.announce(full, wantsLead: false) == .lost,
                await announced() == [1]
            else { return false }
            proxy.heal()
            guard await lease.announce(empty, wantsLead: false) != .lost,
                lease.attachedEpoch == epoch
            else { return false }
            #expect(await announced() == [nil])
            return true
        }
        #expect(isTried)
        lease.release()
        for store in [store, other] { await store.close() }
    }

    private static func location(_ proxy: Proxy) throws -> PostgreSQLLocation {
        try PostgreSQLLocation(
            "postgresql://alertq@127.0.0.1:\(proxy.port)/postgres?sslmode=disable"
                + "&gssencmode=disable")
    }
}
