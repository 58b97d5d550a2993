#if PostgreSQL
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
        private static let tables = ["heads", "sources", "screens", "claims"]

        private static func sizes(_ db: Connection) throws -> [Int64] {
            try tables.map { table in
                try db.first("SELECT pg_total_relation_size('\(table)')") { $0.integer() } ?? 0
            }
        }

        @Test("What a long snapshot keeps is free again after it")
        func heldSnapshot() async throws {
            let queue = try OwnServers([try await PostgreSQLServer()])
            let store = try await queue.open()
            let load = Load(on: [store])
            let screen = AttachedScreen(identity: .current, presenters: ["x"], hasDelegate: false)
            let lease = try await store.attach(screen)
            let claim = try await store.claim(1, for: .waiting)
            let db = try queue.connect()
            try await load.during {
                let reader = try queue.connect()
                try reader.execute(
                    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM alerts")
                for _ in 0..<FaultForm.count(short: 3, full: 60) {
                    let before = load.count
                    try await Task.sleep(for: .seconds(FaultForm.count(short: 1, full: 10)))
                    FaultForm.report(
                        "Snapshot: \(load.count - before) asked, \(try Self.sizes(reader))")
                }
                try reader.execute("COMMIT")
            }
            FaultForm.report("Snapshot: \(load.summary)")
            // A page at the end of a table is given back once the row in it was written elsewhere.
            let isSmall = try await eventually(each: .milliseconds(50)) {
                _ = try await store.enqueue(
                    Question(alert: .yesNo(key: "last"), source: "test"), by: .ana)
                _ = await lease.announce(screen, wantsLead: false)
                for table in Self.tables { try db.execute("VACUUM \(table)") }
                return try Self.sizes(db).allSatisfy { $0 <= 128 << 10 }
            }
            let sizes = try Self.sizes(db)
            #expect(isSmall, "\(sizes)")
            FaultForm.report("Snapshot: \(sizes) after it")
            #expect(try await store.verify(expecting: nil).problems.isEmpty)
            claim?.end()
            lease.release()
            await store.close()
        }
    }
#endif
