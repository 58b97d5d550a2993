import AlertQueue
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Date of a purge", .inParallel)
struct PurgeDateTests {
    @Test("A purge before now is accepted, and one before a future date is refused")
    func dates() async throws {
        let queue = try TemporaryQueue()
        let manager = try await AlertManager(path: queue.path)
        for _ in 0..<20 {
            #expect(try await manager.purge(before: Date(), dryRun: true).erased == 0)
        }
        let error = await thrown {
            try await manager.purge(before: Date(timeIntervalSinceNow: 1), dryRun: true)
        }
        #expect(error?.kind == "invalid")
        await manager.close()
    }
}
