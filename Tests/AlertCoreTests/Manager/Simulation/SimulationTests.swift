import Foundation
import StoreChecks
import TestSupport
import Testing

@testable import AlertCore

/// A model that random events change, and that checks its rules after each.
protocol Simulated {
    var random: SeededRandom { get set }
    /// The rules that were broken.
    var violations: [String] { get }
    var eventCount: Int { get }
    var alertCount: Int { get }

    /// One random thing happens.
    mutating func step()
    /// Lets everything come to its end, and checks that it does.
    mutating func drain() async
}

/// Random histories, by the rules of which a manager is made.
@Suite("Simulation", .inParallel)
struct SimulationTests {
    /// How many events a part is told.
    private static let count = FaultForm.count(short: 100_000, full: 10_000_000)

    @Test("Whatever happens in which order, screens keep their rules and forget nobody")
    func screens() async { await simulate("screens", steps: 2000) { SimulatedQueue(seed: $0) } }

    @Test("Whatever happens in which order, each response reaches its call, closures and handler")
    func responses() async { await simulate("responses", steps: 300) { SimulatedAskers(seed: $0) } }

    private func simulate<Model: Simulated>(_ name: String, steps: Int, _ begin: (UInt64) -> Model)
        async
    {
        let wanted = ProcessInfo.processInfo.environment["ALERTQ_SIMULATION_SEED"]
        var seed = wanted.flatMap(UInt64.init) ?? UInt64.random(in: 0..<1 << 60)
        FaultForm.report("Simulation of \(name) from seed \(seed)")
        var (count, alerts) = (0, 0)
        repeat {
            var model = begin(seed)
            for _ in 1...Int.random(in: 50...steps, using: &model.random) {
                model.step()
                if !model.violations.isEmpty { break }
            }
            if model.violations.isEmpty { await model.drain() }
            #expect(
                model.violations.isEmpty,
                "ALERTQ_SIMULATION_SEED=\(seed): \(model.violations.prefix(3))")
            if !model.violations.isEmpty { return }
            count += model.eventCount
            alerts += model.alertCount
            seed += 1
        } while count < Self.count && wanted == nil
        FaultForm.report("Simulation of \(name): \(count) events, \(alerts) alerts")
    }
}
