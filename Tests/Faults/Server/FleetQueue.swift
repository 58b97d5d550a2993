import Foundation
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport

/// A queue on a server of its own, which accounts of several machines use through the command.
final class FleetQueue: Sendable {
    let server: PostgreSQLServer
    /// The queue as it is used on each machine.
    let hosts: [CommandLineQueue]

    init(hosts count: Int, settings: [String: String] = [:]) async throws {
        server = try await PostgreSQLServer(
            isSynced: true, settings: ["max_connections": "200"].merging(settings) { $1 })
        let uri = server.uri
        hosts = try (0..<count).map { try CommandLineQueue(at: "\(uri)&host_name=host\($0)") }
        let made = try await hosts[0].run("doctor", "--setup-postgresql")
        guard made.code == 0 else { throw TestingError("\(made)") }
    }

    /// What is wrong with the queue; empty when it is clean.
    ///
    /// - Parameter collected: The alerts whose responses were acknowledged as collected.
    func faults(
        against ledger: Ledger = Ledger(), collected: Set<Int> = []
    ) async throws -> [String] {
        let told = ledger.all
        var faults = told.contradictions
        let verify = try await hosts[0].run("audit", "verify")
        if verify.code != 0 { faults.append("audit verify: \(verify.errors)") }
        let db = try Connection(server.location)
        // The queries look for entries of alerts without naming a queue.
        db.timeLimit = .seconds(600)
        try db.execute("CREATE INDEX IF NOT EXISTS of_alert ON audit (alert_id)")
        let more = [
            ("asked twice", "SELECT title FROM alerts GROUP BY title HAVING count(*) > 1"),
            (
                "times that go back",
                """
                SELECT step FROM (SELECT at_ms - lag(at_ms) OVER (ORDER BY seq) AS step
                    FROM audit) AS steps WHERE step < 0
                """
            ),
        ]
        for (name, query) in CommandLineQueue.contradictions + more {
            let count = try db.first("SELECT count(*) FROM (\(query)) AS found") {
                $0.integer()
            }
            if count != 0 { faults.append("\(name): \(count ?? -1)") }
        }
        let titles = Dictionary(
            uniqueKeysWithValues: try db.rows("SELECT id, title FROM alerts") {
                (Int($0.integer(at: 0)), $0.optionalText(at: 1))
            })
        faults += told.asked.filter { titles[$0.key] != $0.value }.map { "lost: ask \($0)" }
        let buttons = Dictionary(
            uniqueKeysWithValues: try db.rows("SELECT id, button FROM history") {
                (Int($0.integer(at: 0)), $0.optionalText(at: 1))
            })
        faults += told.answered.filter { buttons[$0.key] != $0.value }
            .map { "lost: answer \($0)" }
        let stored = Set(
            try db.rows("SELECT id FROM alerts WHERE collected_ms IS NOT NULL") {
                Int($0.integer())
            })
        return faults + collected.subtracting(stored).map { "lost: collection of \($0)" }
    }
}
