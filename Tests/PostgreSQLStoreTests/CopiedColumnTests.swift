import AlertTables
import Foundation
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@Suite("Copied columns of a server", .inParallel, .needsServer)
struct CopiedColumnTests {
    /// The columns that belong to this store alone.
    private static let own: [CopiedTable: Set<String>] = [.alerts: ["words"]]

    @Test("A copy takes every column of a server along", arguments: CopiedTable.allCases)
    func columns(table: CopiedTable) async throws {
        let db = try await PostgreSQLQueue().connect()
        let columns = try db.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = '\(table.rawValue)'::regclass "
                + "AND attnum > 0 AND NOT attisdropped"
        ) { $0.text() }
        let copied = table.columns.map { $0.trimmingCharacters(in: ["\""]) }
        let own = (Self.own[table] ?? []).union(["queue"])
        #expect(Set(columns) == Set(copied).union(own))
    }
}
