import AlertCore
import AlertTables
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Forged properties of a question", .inParallel)
struct PropertyForgingTests {
    @Test(
        "A property is refused another value, and found with one that was forged",
        arguments: AlertProperty.columns)
    func changed(column: String) async throws {
        let property = try #require(AlertProperty.all.first { $0.column == column })
        let log = try await AuditLog()
        let id = try await log.store.ask(.withAllProperties).id
        let change = "UPDATE alerts SET \(property.assignment) WHERE id = \(id)"
        let refusal = #expect(throws: (any Error).self) {
            try log.queue.connection().execute(change)
        }
        #expect("\(refusal as Any)".contains("a question never changes"), "\(refusal as Any)")
        let problem = try await log.problem(after: change)
        #expect(problem.alertID == id, "\(problem.reason)")
        let error = await #expect(throws: AlertError.self) { try await log.store.record(id) }
        #expect(error?.kind == "inconsistent", "\(error as Any)")
        await log.store.close()
    }
}
