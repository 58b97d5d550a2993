import AlertQueueTesting
import Foundation
import TestSupport
import Testing

@testable import AlertCore

/// Random histories of a queue with three screens, by the rules of which the screens are made.
@Suite("Simulation", .inParallel)
struct SimulationTests {
    /// How many events screens are told.
    private static let count = FaultForm.count(short: 100_000, full: 10_000_000)

    @Test("Whatever happens in which order, screens keep their rules and forget nobody")
    func random() {
        let wanted = ProcessInfo.processInfo.environment["ALERTQ_SIMULATION_SEED"]
        var seed = wanted.flatMap(UInt64.init) ?? UInt64.random(in: 0..<1 << 60)
        FaultForm.report("Simulation from seed \(seed)")
        var (count, alerts) = (0, 0)
        repeat {
            var queue = SimulatedQueue(seed: seed)
            for _ in 1...Int.random(in: 50...2000, using: &queue.random) {
                queue.step()
                if !queue.violations.isEmpty { break }
            }
            if queue.violations.isEmpty { queue.drain() }
            #expect(
                queue.violations.isEmpty,
                "ALERTQ_SIMULATION_SEED=\(seed): \(queue.violations.prefix(3))")
            if !queue.violations.isEmpty { return }
            count += queue.eventCount
            alerts += queue.alerts.count
            seed += 1
        } while count < Self.count && wanted == nil
        FaultForm.report("Simulation: \(count) events, \(alerts) alerts")
    }
}
