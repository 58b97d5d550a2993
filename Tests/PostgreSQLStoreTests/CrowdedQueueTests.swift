import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Many stores on one queue", .inParallel(places: 2), .needsServer)
struct CrowdedQueueTests {
    @Test("64 callers of 8 stores who ask, answer, replace and collect leave the queue clean")
    func crowd() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        var stores: [PostgreSQLAlertStore] = []
        for _ in 0..<8 { stores.append(try await queue.open()) }
        let end = ContinuousClock.now + .seconds(FaultForm.count(short: 5, full: 300))
        let count = try await withThrowingTaskGroup { group in
            for number in 0..<64 {
                let store = stores[number % stores.count]
                group.addTask { try await Self.act(number, on: store, until: end) }
            }
            return try await group.reduce(0, +)
        }
        FaultForm.report("Crowd: \(count) changes")
        #expect(count > 64)
        let db = try queue.connect()
        let asked = try db.first("SELECT count(*) FROM audit WHERE event = 'asked'") {
            $0.integer()
        }
        #expect(try db.first("SELECT count(*) FROM alerts") { $0.integer() } == asked)
        let twice = """
            SELECT count(*) FROM (SELECT 1 FROM audit
                WHERE event IN ('asked', 'resolved', 'collected', 'superseded')
                GROUP BY event, alert_id HAVING count(*) > 1) AS twice
            """
        #expect(try db.first(twice) { $0.integer() } == 0)
        let report = try await stores[0].verify(expecting: nil)
        #expect(report.problems.isEmpty, "\(report.problems.prefix(5))")
        let waiting = try db.first("SELECT count(*) FROM alerts WHERE outcome IS NULL") {
            Int($0.integer())
        }
        #expect(try await stores[1].pendingCount() == waiting)
        for store in stores { await store.close() }
    }

    /// Does things at random; returns how many changes were stored.
    private static func act(
        _ number: Int, on store: PostgreSQLAlertStore, until end: ContinuousClock.Instant
    ) async throws -> Int {
        var random = TestRandom(number)
        var count = 0
        while .now < end {
            let key = "key \(Int.random(in: 0..<40, using: &random))"
            do throws(AlertError) {
                switch Int.random(in: 0..<6, using: &random) {
                case 0:
                    _ = try await store.enqueue(
                        Question(alert: .yesNo("Without a key?"), source: "crowd"), by: .ana)
                case 1:
                    _ = try await store.enqueue(
                        Question(alert: .yesNo(key, key: key), source: "crowd"), by: .ana)
                case 2:
                    let title = "\(key) \(Int.random(in: 0..<3, using: &random))"
                    _ = try await store.enqueue(
                        Question(
                            alert: .yesNo(title, key: key), source: "crowd", join: .replacing),
                        by: .ana)
                case 3:
                    _ = try await store.snooze(
                        try await some(of: store, &random), until: .after(.seconds(1)),
                        by: .ben)
                case 4:
                    let id = try await some(of: store, &random)
                    _ = try await store.resolve(
                        id, .choose(button: Int.random(in: 0...1, using: &random)), by: .ben)
                    _ = try await store.collect(id, by: .ana)
                default:
                    _ = try await store.resolve(
                        try await some(of: store, &random), .withdraw(), by: .ana)
                }
                count += 1
            } catch {
                let expected = ["notFound", "alreadyResolved", "keyConflict"]
                guard expected.contains(error.kind) else { throw error }
            }
        }
        return count
    }

    private static func some(
        of store: PostgreSQLAlertStore, _ random: inout TestRandom
    ) async throws(AlertError) -> Alert.ID {
        let waiting = try await store.pending(limit: 30)
        guard let record = waiting.randomElement(using: &random) else {
            throw .notFound(0)
        }
        return record.id
    }
}
