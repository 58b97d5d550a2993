import Glibc
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Durability of servers", .inParallel, .needsServer)
struct DurabilityTests {
    private func open(
        _ location: String, checksDurability: Bool = true
    ) async throws(AlertError) {
        try await PostgreSQLAlertStore.open(
            PostgreSQLLocation(location), checksDurability: checksDurability
        ).close()
    }

    @Test(
        "A session that acknowledges commits before they are on the disk is refused",
        arguments: [
            "off": true, "local": true, "remote_write": true, "on": false,
            "remote_apply": false,
        ])
    func commit(setting: String, isRefused: Bool) async throws {
        let location =
            try await PostgreSQLQueue().uri
            + "&options=-c%20synchronous_commit%3D\(setting)"
        let error = await thrown { try await open(location, checksDurability: false) }
        #expect(error?.kind == (isRefused ? "incompatible" : nil), "\(error as Any)")
        #expect(!isRefused || "\(error as Any)".contains("synchronous_commit is \(setting)"))
    }

    @Test(
        "A server that does not write to its disk, or not whole pages, is refused",
        arguments: ["fsync", "full_page_writes"])
    func disk(setting: String) async throws {
        let server = try await PostgreSQLServer(isSynced: true, settings: [setting: "off"])
        try PostgreSQLSchema.setUp(try PostgreSQLLocation(server.uri))
        let error = await thrown { try await open(server.uri) }
        #expect(error?.kind == "incompatible", "\(error as Any)")
        #expect("\(error as Any)".contains("fsync or full_page_writes is off"))
    }

    @Test(
        "Screens and waiting leases need no standby, and nothing piles up on a server that waits for one"
    )
    func leases() async throws {
        let queue = try await OwnServers.pair()
        let store = try await queue.open()
        try await store.ask(.yesNo())
        try await queue.servers[1].stop()
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
        let attachment = try await store.attach(screen)
        #expect(await attachment.announce(screen, wantsLead: true).isLeading)
        let lease = try await store.lease(1, for: .waiting)
        #expect(lease != nil)
        await store.leases.renew()
        let waiting = {
            try queue.connect().first(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            ) { $0.integer() }
        }
        #expect(try waiting() == 0)
        // Only one process may handle a response, also after a failover.
        for _ in 0..<2 { #expect(await thrown { try await store.lease(1) } != nil) }
        #expect(try waiting() == 1)
        let report = try PostgreSQLAdministration(queue.location.uri).serverReport()
        #expect(report.lockHolder == nil)
        try await queue.servers[1].start()
        #expect(await eventually { await (try? store.lease(1)) != nil })
        lease?.end()
        attachment.release()
        await store.close()
    }

    @Test("What waits for a standby is reported as that")
    func waitingCommit() async throws {
        let queue = try await OwnServers.pair()
        let store = try await queue.open()
        try await queue.servers[1].stop()
        let asking = Task { await thrown { try await store.ask(.yesNo()) } }
        let administration = PostgreSQLAdministration(queue.location.uri)
        #expect(
            try await eventually(each: .milliseconds(50)) {
                try administration.serverReport().lockHolder?.waitsForStandby == true
            })
        try await queue.servers[1].start()
        _ = await asking.value
        await store.close()
    }

    @Test(
        "A commit whose wait for the standby was cancelled is not acknowledged before another one is",
        arguments: ["notice", "error"])
    func cancelledWait(messages: String) async throws {
        let queue = try await OwnServers.pair()
        let db = try queue.connect()
        try db.execute("ALTER ROLE alertq SET client_min_messages = \(messages)")
        let store = try await queue.open(busyTime: .seconds(60))
        try await queue.servers[1].stop()
        let recorder = Recorder()
        let asking = Task {
            try await store.ask(.yesNo())
            recorder.note("acknowledged")
        }
        for _ in 0..<3 {
            var process: Int64?
            #expect(
                try await eventually(each: .milliseconds(20)) {
                    process = try db.first(
                        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                    ) { $0.integer() }
                    return process != nil || !recorder.lines.isEmpty
                })
            #expect(recorder.lines.isEmpty)
            guard let process else { break }
            try db.run("SELECT pg_cancel_backend($1::int)", .integer(process))
        }
        try await queue.servers[1].start()
        try await asking.value
        #expect(try await store.pendingCount() == 1)
        await store.close()
    }

    @Test(
        "An answer that only the primary has is lost by a failover, and acknowledged only with local",
        arguments: ["on", "local"])
    func failover(setting: String) async throws {
        let queue = try await OwnServers.pair()
        let store = try await queue.open(busyTime: .seconds(2))
        try await store.ask(.yesNo())
        // What is refused at opening can be set afterwards.
        for sql in [
            "ALTER SYSTEM SET synchronous_commit = '\(setting)'", "SELECT pg_reload_conf()",
        ] { try queue.connect().execute(sql) }
        let isSet = try await eventually {
            try queue.connect().first("SHOW synchronous_commit") { $0.text() } == setting
        }
        try #require(isSet)
        let (primary, standby) = (queue.servers[0], queue.servers[1])
        try await standby.stop()
        let answered = await thrown { try await store.answer(1, 0) }
        #expect((answered == nil) == (setting == "local"), "\(answered as Any)")
        try await primary.stop(SIGKILL)
        try await standby.start()
        try standby.promote()
        let other = try await queue.open()
        #expect(try await other.record(1).response == nil)
        let next = await thrown { try await store.ask(.yesNo("More?")) }
        #expect(next?.kind == (setting == "local" ? "inconsistent" : nil), "\(next as Any)")
        for store in [store, other] { await store.close() }
    }
}
