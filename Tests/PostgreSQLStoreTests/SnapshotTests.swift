import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

/// A snapshot keeps every version of a row that was made since, and the row of a queue's head has
/// a new one with each transaction.
@Suite("Snapshots that are held", .inParallel(places: 2), .needsServer)
struct SnapshotTests {
    /// The tables whose rows are updated again and again.
    private static let tables = ["heads", "sources", "screens", "leases"]

    @Test("What a long snapshot keeps is free again after it")
    func heldSnapshot() async throws {
        let queue = try OwnServers([try await PostgreSQLServer()])
        let store = try await queue.open()
        let load = Load(on: [store])
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
        let attachment = try await store.attach(screen)
        let lease = try await store.lease(1, for: .waiting)
        let db = try queue.connect()
        try db.execute("CREATE EXTENSION pgstattuple")
        try await load.during {
            let reader = try queue.connect()
            try reader.execute(
                "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM alerts")
            for _ in 0..<FaultForm.count(short: 3, full: 60) {
                let before = load.count
                try await Task.sleep(for: .seconds(FaultForm.count(short: 1, full: 10)))
                FaultForm.report("Snapshot: \(load.count - before) asked")
            }
            let kept = try Self.unused(try queue.connect())
            FaultForm.report("Snapshot: keeps \(kept)")
            #expect(kept[0] > 10)
            try reader.execute("COMMIT")
        }
        FaultForm.report("Snapshot: \(load.summary)")
        // The screen's lease and the one on the alert go on to be renewed.
        #expect(
            try await eventually(each: .milliseconds(50)) {
                try Self.unused(db).allSatisfy { $0 < 10 }
            })
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        lease?.end()
        attachment.release()
        await store.close()
    }

    /// How many versions of rows the tables have that no transaction to come can see, and whose
    /// room is not free.
    private static func unused(_ db: Connection) throws -> [Int64] {
        try tables.map { table in
            try db.execute("VACUUM \(table)")
            let sql = "SELECT dead_tuple_count FROM pgstattuple('\(table)')"
            return try db.first(sql) { $0.integer() } ?? 0
        }
    }
}
