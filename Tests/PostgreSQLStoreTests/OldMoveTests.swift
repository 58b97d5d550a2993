import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Moves in the middle of a log", .inParallel, .needsServer)
struct OldMoveTests {
    /// It moved to a file, came back by a restore, and was copied to a server.
    @Test("A queue that has moved and come back can be followed, whatever a page of it ends with")
    func cameBack() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let start = store.position
        let move = AuditDraft(QueueMove(to: "/srv/queue.db", hasArrived: true))
        try await store.writes.perform(.upkeep, "write a log") { transaction in
            for _ in 1...256 { try transaction.append(move, by: .ana, concernsOthers: true) }
            var restored = AuditDraft(kind: .restored)
            restored.detail = .restored(
                RestoredQueue(backup: .start, replaced: .nothing, firstAlert: 1000, problems: []))
            try transaction.append(restored, by: .ana, concernsOthers: true)
        }
        let page = try await store.news(after: start, of: .everybody)
        #expect(page.events.count == 256 && page.events.last?.kind == .moved)
        let rest = try await store.news(after: page.position, of: .everybody)
        #expect(rest.events.map(\.kind) == [.restored])
        try await store.ask(.yesNo())
        await store.close()
    }
}
