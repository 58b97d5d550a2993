import AlertTables
import Foundation
import SQLite
import StoreTesting
import TestSupport
import Testing

@Suite("Copied columns", .inParallel)
struct CopiedColumnTests {
    /// The columns that belong to this store alone.
    private static let own: [CopiedTable: Set<String>] = [.requests: ["id"]]

    @Test("A copy takes every column of a file along", arguments: CopiedTable.allCases)
    func columns(table: CopiedTable) async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let columns = try queue.connection().rows(
            "SELECT name FROM pragma_table_info('\(table.rawValue)')"
        ) { $0.text() }
        await store.close()
        let copied = table.columns.map { $0.trimmingCharacters(in: ["\""]) }
        #expect(Set(columns) == Set(copied).union(Self.own[table] ?? []))
    }
}
