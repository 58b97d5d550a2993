import Dispatch
import Foundation
import Glibc
import Linux
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQL

@Suite("Lost connections", .inParallel, .needsServer)
struct LostConnectionTests {
    @Test("A server that is stopped ends a call in its time, and the connection")
    func stopped() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        let process = db.serverProcess
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        db.timeLimit = .milliseconds(200)
        let began = ContinuousClock.now
        let error = #expect(throws: PostgreSQLError.self) {
            // More than can be sent, so that some of it is left when the connection is closed.
            try db.run("SELECT $1::bytea", .blob(Array(repeating: 0, count: 8 << 20)))
        }
        #expect(error?.cause == .timedOut && error?.meaning == .lookUp)
        #expect(began.duration(to: .now) >= .milliseconds(200))
        let again = #expect(throws: PostgreSQLError.self) { try db.run("SELECT 1") }
        #expect(again == error)
        guard case .refused = db.commit() else {
            Issue.record("what could not be sent is not known to be refused")
            return
        }
    }

    @Test("Another thread ends every wait of a connection")
    func interruption() async throws {
        let server = try await PostgreSQLServer.shared.value
        let interruption = try Interruption()
        let waiting = try Connection(server.location, interruption: interruption)
        let listening = try Connection(server.location, interruption: interruption)
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { interruption.interrupt() }
        let error = #expect(throws: PostgreSQLError.self) {
            try waiting.run("SELECT pg_sleep(600)")
        }
        #expect(error?.cause == .interrupted)
        let other = #expect(throws: PostgreSQLError.self) {
            try listening.nextNotification(within: .seconds(600))
        }
        #expect(other?.cause == .interrupted)
        let third = #expect(throws: PostgreSQLError.self) {
            try Connection(server.location, interruption: interruption)
        }
        #expect(third?.cause == .interrupted)
    }

    @Test("A host that refuses, one that never answers and a hot standby are passed over")
    func hosts() async throws {
        let primary = try await PostgreSQLServer(listens: true)
        let port = try #require(primary.port)
        let silent = try Proxy(to: primary.socket)
        silent.fail(.stall, after: 0, .toServer)
        let nobody = try PostgreSQLServer.freePort()
        let standby = try await PostgreSQLServer(standbyOf: primary, name: "other")
        let standbyPort = try #require(standby.port)
        func location(_ ports: UInt16...) -> String {
            let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
            return "postgresql://alertq@\(hosts)/postgres"
        }
        let db = try Connection(
            location(nobody, silent.port, standbyPort, port)
                + "?connect_timeout=3", within: .seconds(60))
        #expect(try db.first("SHOW port") { $0.text() } == String(port))
        #expect(db.parameter("in_hot_standby") == "off")
        let error = #expect(throws: PostgreSQLError.self) {
            try Connection(location(nobody, standbyPort), within: .seconds(60))
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("refused") && text.contains("read-only"), "\(text)")
        #expect(error?.meaning == .tryLater)
        let late = #expect(throws: PostgreSQLError.self) {
            try Connection(location(silent.port), within: .milliseconds(100))
        }
        #expect(late.map { "\($0)" } == "127.0.0.1 did not answer in time")
        try standby.promote()
        #expect(throws: Never.self) { try Connection(location(nobody, standbyPort)) }
        silent.heal()
    }

    @Test("Each address of a host is looked up, and paths and addresses are left as they are")
    func addresses() {
        let found = Settings.addresses(of: ["host": "localhost", "port": "1"])
        #expect(found.contains(["host": "localhost", "hostaddr": "127.0.0.1", "port": "1"]))
        for host in [
            [:], ["host": ""], ["host": "/run/postgresql"], ["host": "@socket"],
            ["host": "no-such-host.invalid"], ["host": "db", "hostaddr": "127.0.0.2"],
        ] {
            #expect(Settings.addresses(of: host) == [host])
        }
    }

    @Test("Defaults apply unless the connection string says otherwise")
    func defaults() async throws {
        let server = try await PostgreSQLServer.shared.value
        let db = try Connection(server.location)
        let name =
            { try $0.first("SHOW application_name") { $0.text() } }
            as (Connection) throws
            -> String?
        #expect(try name(db) == "alertq")
        let named = try Connection(server.location + " application_name=mine")
        #expect(try name(named) == "mine")
        let overridden = try Connection(
            server.location + " application_name=mine",
            overriding: ["application_name": "ours"])
        #expect(try name(overridden) == "ours")
        #expect(db.parameter("server_encoding") == "UTF8")
        #expect(db.parameter("standard_conforming_strings") == "on")
        #expect(db.serverVersion >= 140_000)
    }

    @Test(
        "Cut after any byte, a transaction is stored, or refused, or not known",
        arguments: [Proxy.Direction.toServer, .toClient], [Proxy.Fault.cut, .stall])
    func cuts(_ direction: Proxy.Direction, _ fault: Proxy.Fault) async throws {
        let server = try await PostgreSQLServer.shared.value
        let reader = try server.connect()
        let schema = try reader.first("SHOW search_path") { $0.text() } ?? ""
        try reader.execute("CREATE TABLE things (i bigint, t text)")
        let proxy = try Proxy(to: server.socket)
        let location = server.location(port: proxy.port)
        func transaction(
            _ number: Int, within limit: Duration = .seconds(60)
        ) throws -> CommitOutcome {
            let db = try Connection(location, within: limit)
            db.timeLimit = limit
            try db.execute("SET search_path = \(schema)")
            let insertion = Statement(
                "INSERT INTO things VALUES ($1, $2)", .integer(number), "text")
            return db.commit([insertion, insertion])
        }
        let before = proxy.passed(direction)
        guard case .committed = try transaction(0) else {
            Issue.record("not committed without a fault")
            return
        }
        let whole = proxy.passed(direction) - before
        var outcomes: [String: Int] = [:]
        let limit = Duration.milliseconds(fault == .stall ? 300 : 60_000)
        let step = FaultForm.count(short: 29, full: 1)
        for (number, bytes) in stride(from: 0, to: whole + step, by: step).enumerated() {
            proxy.fail(fault, after: bytes, direction)
            defer { proxy.heal() }
            let outcome: String
            do {
                switch try transaction(number + 1, within: limit) {
                case .committed: outcome = "committed"
                case .refused: outcome = "refused"
                case .unknown: outcome = "unknown"
                }
            } catch is PostgreSQLError {
                outcome = "not begun"
            }
            outcomes[outcome, default: 0] += 1
            proxy.heal()
            let count = {
                try reader.first(
                    "SELECT count(*) FROM things WHERE i = $1", .integer(number + 1)
                ) { $0.integer() }
            }
            let rows = try count()
            switch outcome {
            case "committed": #expect(rows == 2, "after \(bytes) bytes")
            case "unknown":
                #expect(rows == 0 || rows == 2, "after \(bytes) bytes")
                if rows == 2 { outcomes["unknown, but stored", default: 0] += 1 }
            default: #expect(rows == 0, "after \(bytes) bytes: \(outcome)")
            }
        }
        #expect((outcomes["unknown"] ?? 0) > 0, "\(outcomes)")
        if direction == .toClient {
            #expect((outcomes["unknown, but stored"] ?? 0) > 0, "\(outcomes)")
        }
    }

    @Test("Whether a COMMIT was carried out is not known after the server was killed under it")
    func killed() async throws {
        // No standby has this name, so that COMMIT never returns.
        let server = try await PostgreSQLServer(
            isSynced: true, settings: ["synchronous_standby_names": "missing"])
        let db = try Connection(server.location)
        try db.execute("SET synchronous_commit = local")
        try db.execute("CREATE TABLE things (i bigint)")
        try db.execute("RESET synchronous_commit")
        let insertion = Task.detached {
            Insertion(into: try Connection(server.location))
        }
        let watcher = try Connection(server.location)
        let waits = """
            SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'
            """
        #expect(try await eventually { try watcher.first(waits) { $0.integer() } == 1 })
        try await server.stop(SIGKILL)
        guard case .unknown(let error) = try await insertion.value else {
            Issue.record("the insertion claims to know")
            return
        }
        #expect(error.isConnectionLost && error.meaning == .lookUp)
        try await server.start()
        let again = try Connection(server.location)
        #expect(try again.first("SELECT count(*) FROM things", read: { $0.integer() }) == 1)
    }

    @Test("What a synchronous standby acknowledged is there after the primary is gone")
    func failover() async throws {
        let primary = try await PostgreSQLServer(
            isSynced: true, settings: ["synchronous_standby_names": "other"])
        let standby = try await PostgreSQLServer(standbyOf: primary, name: "other")
        let db = try Connection(primary.location)
        try db.execute("CREATE TABLE things (i bigint)")
        #expect(Insertion(into: db) == .committed)
        try await primary.stop(SIGKILL)
        // Its children end a moment after it.
        #expect(await eventually { (try? db.run("SELECT 1")) == nil })
        try standby.promote()
        let again = try Connection(standby.location)
        #expect(try again.first("SELECT count(*) FROM things") { $0.integer() } == 1)
        #expect(Insertion(into: again) == .committed)
    }

    @Test("Notifications come in order, and a wait for them ends in its time")
    func notifications() async throws {
        let server = try await PostgreSQLServer.shared.value
        let (one, other) = (try server.connect(), try server.connect())
        let channel = "c_" + UUID().uuidString
        try one.execute("LISTEN \"\(channel)\"")
        #expect(try one.nextNotification(within: .milliseconds(10)) == nil)
        let notify = Statement("SELECT pg_notify($1, $2)", .text(channel), "first")
        try other.run(
            [notify, Statement("SELECT pg_notify($1, 'second')", .text(channel))])
        let first = try one.nextNotification(within: .seconds(60))
        #expect(first?.payload == "first" && first?.channel == channel)
        #expect(first?.serverProcess == other.serverProcess)
        // One that comes while a statement runs waits for its turn.
        try one.run("SELECT 1")
        #expect(try one.nextNotification(within: .seconds(60))?.payload == "second")
        #expect(try one.nextNotification(within: .zero) == nil)
    }

    @Test("What the server says beside its answers is kept, and not printed")
    func notices() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        try db.execute("DO $$ BEGIN RAISE WARNING 'mind the gap'; END $$")
        #expect(db.notices.map(\.message) == ["mind the gap"])
        #expect(db.notices.first?.severity == "WARNING")
        try db.run("SELECT 1")
        #expect(db.notices.isEmpty)
    }
}
