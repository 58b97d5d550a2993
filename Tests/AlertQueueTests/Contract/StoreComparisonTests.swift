import AlertQueue
import AlertQueueTesting
import Foundation
import SQLiteStore
import TestSupport
import Testing

@testable import AlertCore

@Suite("Stores compared", .inParallel)
struct StoreComparisonTests {
    /// `ALERTQ_SEED` repeats a run that failed, `ALERTQ_STEPS` makes it longer.
    private static let environment = ProcessInfo.processInfo.environment
    static let seeds =
        environment["ALERTQ_SEED"].flatMap { UInt64($0) }.map { [$0] }
        ?? (0..<4).map { _ in UInt64.random(in: 0..<1_000_000) }
    static let steps = environment["ALERTQ_STEPS"].flatMap { Int($0) } ?? 1000

    @Test("SQLite tells all that the store in memory tells", arguments: seeds)
    func sequential(seed: UInt64) async throws {
        var comparison = try await StoreComparison(
            seed: seed, StoreKind.memory.makeQueue(), StoreKind.sqlite.makeQueue())
        do {
            try await comparison.play(Self.steps)
        } catch {
            Issue.record("\(error)\nRepeat it with ALERTQ_SEED=\(seed)")
        }
        #expect(comparison.changes > Self.steps / 5)
        await comparison.close()
    }
}
