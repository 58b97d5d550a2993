import AlertQueue
import Foundation
import PostgreSQLTesting
import SQLiteStore
import StoreChecks
import TestSupport
import Testing

@testable import AlertCore

@Suite("Stores compared", .inParallel)
struct StoreComparisonTests {
    /// The seeds: `ALERTQ_SEED` replays a run that failed, `ALERTQ_STEPS` sets its length.
    private static let environment = ProcessInfo.processInfo.environment
    static let seeds =
        environment["ALERTQ_SEED"].flatMap { UInt64($0) }.map { [$0] }
        ?? (0..<4).map { _ in UInt64.random(in: 0..<1_000_000) }
    static let steps = environment["ALERTQ_STEPS"].flatMap { Int($0) } ?? 1000

    @Test("SQLite returns the same results as the store in memory", arguments: seeds)
    func sequential(seed: UInt64) async throws {
        try await compare(.memory, .sqlite, seed: seed)
    }

    @Test("PostgreSQL does so, too", .needsServer, arguments: seeds.prefix(1))
    func server(seed: UInt64) async throws {
        try await compare(.memory, .postgreSQL, seed: seed)
    }

    private func compare(
        _ one: StoreKind, _ other: StoreKind, seed: UInt64
    ) async throws {
        var comparison = try await StoreComparison(
            seed: seed, one.makeQueue(), other.makeQueue())
        do {
            try await comparison.play(Self.steps)
        } catch {
            Issue.record("\(error)\nReplay it with ALERTQ_SEED=\(seed)")
        }
        #expect(comparison.changes > Self.steps / 5)
        await comparison.close()
    }
}
