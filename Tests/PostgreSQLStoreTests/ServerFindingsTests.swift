import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Checks of a server", .inParallel)
struct ServerFindingsTests {
    private func findings(
        standbys: String = "", seen: Int = 0, seesStandbys: Bool = true,
        isSynced: Bool = true, commit: String = "on", address: String? = nil,
        missing: [(String, [String])]? = [], lockHolder: ServerReport.Session? = nil
    ) -> [Finding] {
        ServerReport(
            version: "15", address: address, isSynced: isSynced, commit: commit,
            keepsCommits: commit == "on", standbyNames: standbys, synchronousStandbys: seen,
            standbys: seen, lag: 0, connections: 1, maximumConnections: 100, skew: .zero,
            seesStandbys: seesStandbys, role: "\"Ana\"",
            missingRights: missing?.map { (right: $0.0, tables: $0.1) }, lockHolder: lockHolder
        ).findings()
    }

    @Test("A role that may not see standbys is not told that none is there")
    func standbys() throws {
        let unknown = try #require(findings(standbys: "s", seen: 0, seesStandbys: false).first)
        #expect(unknown.trouble == nil && unknown.isNote && unknown.detail.contains("can't see"))
        #expect(unknown.sql == "GRANT pg_read_all_stats TO \"Ana\";")
        let none = try #require(findings(standbys: "s", seen: 0, seesStandbys: true).first)
        #expect(none.trouble == .busy && none.detail.contains("none is connected"))
        let one = try #require(findings(standbys: "s", seen: 1, seesStandbys: true).first)
        #expect(one.trouble == nil && !one.isNote)
    }

    @Test("A server that may lose what it acknowledges is a problem, whatever its standbys")
    func settings() throws {
        for standbys in ["", "s"] {
            let unsynced = try #require(findings(standbys: standbys, isSynced: false).first)
            #expect(unsynced.trouble == .inputOutput && unsynced.sql == nil)
            #expect(unsynced.detail.contains("fsync or full_page_writes is off"))
            let early = try #require(findings(standbys: standbys, commit: "local").first)
            #expect(early.trouble == .inputOutput)
            #expect(early.detail.contains("synchronous_commit is local"))
            #expect(early.sql == "ALTER ROLE \"Ana\" SET synchronous_commit = on;")
        }
    }

    @Test("The host that was reached is named, unless it was reached through its socket")
    func address() throws {
        let reached = try #require(findings(address: "10.0.0.1:5432").first)
        #expect(reached.detail.hasPrefix("PostgreSQL 15 at 10.0.0.1:5432; "))
        let local = try #require(findings().first)
        #expect(local.detail.hasPrefix("PostgreSQL 15; "))
    }

    @Test("Each right that is missing is named, with the statement that gives it")
    func rights() throws {
        let found = findings(
            missing: [("INSERT", ["alerts", "audit"]), ("DELETE", ["leases"])])
        let rights = try #require(found.first { $0.check == "permissions" })
        #expect(rights.trouble == .notPermitted)
        #expect(rights.detail.contains("INSERT on alerts, audit; DELETE on leases"))
        #expect(
            rights.sql == """
                GRANT INSERT ON alertq.alerts, alertq.audit TO "Ana";
                GRANT DELETE ON alertq.leases TO "Ana";
                """)
    }

    @Test("A role that may only read, as for monitoring, is noted")
    func reader() throws {
        let all = PostgreSQLSchema.rights.map { ($0.right, $0.tables) }
        let found = findings(missing: Array(all.dropFirst()))
        let rights = try #require(found.first { $0.check == "permissions" })
        #expect(rights.isNote && rights.sql?.hasPrefix("GRANT INSERT ON alertq.alerts") == true)
        // One that may not even read everything can't tell how things are.
        let blind = findings(missing: all).first { $0.check == "permissions" }
        #expect(blind?.trouble == .notPermitted)
    }

    @Test("Nothing is said about the rights of a role that does not see the tables")
    func unseen() {
        let checks = findings(missing: nil).map(\.check)
        #expect(!checks.contains("permissions"))
    }

    @Test("The session that keeps others from writing is named, with the statement that ends it")
    func lock() throws {
        let holder = ServerReport.Session(
            process: 4711, role: "ana", address: "10.0.0.7", state: "idle in transaction",
            age: .seconds(14))
        let found = try #require(findings(lockHolder: holder).first { $0.check == "lock" })
        #expect(found.trouble == .busy)
        #expect(
            found.detail.contains(
                "4711 (role ana from 10.0.0.7, idle in transaction) has held for 14 s"))
        #expect(found.sql == "SELECT pg_terminate_backend(4711);")
        #expect(findings().contains { $0.check == "lock" && $0.trouble == nil })
        // Ended, it would show what no standby has.
        let waiting = ServerReport.Session(
            process: 4711, role: "ana", address: nil, state: "active", age: .seconds(14),
            waitsForStandby: true)
        let other = try #require(findings(lockHolder: waiting).first { $0.check == "lock" })
        #expect(other.trouble == .busy && other.advice?.contains("bring the standby back") == true)
        #expect(other.advice?.contains("pg_terminate_backend") == false)
    }
}
