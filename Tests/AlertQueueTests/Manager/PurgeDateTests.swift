import AlertQueue
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Date of a purge", .inParallel)
struct PurgeDateTests {
    @Test("Now is no time in the future, and in a second is one")
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
