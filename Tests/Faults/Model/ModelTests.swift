import Foundation
import ProcessTesting
import TestSupport
import Testing

@testable import QueueClient

@Suite("Model", .inParallel)
struct ModelTests {
    /// `ALERTQ_SEED` repeats the choices of a run that failed.
    static let seed = Int(TestRandom.seed % 1_000_000)

    enum Form: String, CaseIterable, CustomTestStringConvertible {
        case plain = "no deadlines"
        case deadlines = "deadlines"
        case kills = "deadlines and clients that are killed"
        var testDescription: String { rawValue }

        var operations: Int {
            switch self {
            case .plain: FaultForm.count(short: 4_000, full: 500_000)
            case .deadlines: FaultForm.count(short: 2_000, full: 300_000)
            case .kills: FaultForm.count(short: 2_000, full: 200_000)
            }
        }
    }

    @Test(
        "What eight processes are told happened one thing at a time, in the order of the log",
        arguments: Form.allCases)
    func linearizable(form: Form) async throws {
        // Rounds of their own queues keep the histories in memory.
        var (left, round) = (form.operations, 0)
        var changes = 0
        while left > 0 {
            let queue = try CommandLineQueue()
            let seed = Self.seed + round
            let run = ModelRun(
                queue: queue, seed: seed, operations: min(left, 20_000),
                hasDeadlines: form != .plain,
                kills: form == .kills ? FaultForm.count(short: 2, full: 25) : 0)
            let played = try await run.played()
            let log = try await ModelLog.read(queue)
            var check = ModelCheck(log, played)
            check.run()
            #expect(
                check.violations.prefix(10) == [],
                "\(check.violations.count) in all; repeat with ALERTQ_SEED=\(seed)")
            let faults = try await queue.faults()
            #expect(faults == [])
            changes += log.entries.count
            left -= played.count
            round += 1
        }
        // Clients that only fail would prove nothing.
        #expect(changes > form.operations / 4)
    }
}
