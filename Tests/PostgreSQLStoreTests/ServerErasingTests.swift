import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Erasing texts in PostgreSQL", .inParallel, .needsServer)
struct ServerErasingTests {
    @Test(
        "A purge that is cancelled before the table is vacuumed says so, and the next completes it")
    func cancelled() async throws {
        let queue = try await PostgreSQLQueue(hasDatabase: true)
        let store = try await queue.open(SystemClock())
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        #expect(try await store.collect(id, by: .ana))
        let purge = Task {
            try await store.erase(before: .distantFuture, by: .ana, rewritesFile: true) {
                progress in
                if progress.phase == .file { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        let report = try await purge.value
        #expect(report.erased == 1 && !report.isComplete, "\(report)")
        #expect(try await !store.isErasureComplete())
        let rest = try await store.erase(
            before: .distantFuture, by: .ana, rewritesFile: true
        ) { _ in }
        #expect(rest.erased == 0 && rest.isComplete, "\(rest)")
        #expect(try await store.isErasureComplete())
        await store.close()
    }
}
