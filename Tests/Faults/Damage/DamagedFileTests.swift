import Foundation
import ProcessTesting
import TestSupport
import Testing

@Suite("Damaged files", .inParallel)
struct DamagedFileTests {
    static let count = FaultForm.count(short: 60, full: 1_000)

    /// The seed in `ALERTQ_DAMAGE_SEED` alone, or the number of random ones for this form.
    private var seeds: [UInt64] {
        let wanted = ProcessInfo.processInfo.environment["ALERTQ_DAMAGE_SEED"]
        if let seed = wanted.flatMap(UInt64.init) { return [seed] }
        return (0..<Self.count).map { _ in UInt64.random(in: 0..<UInt64(Int64.max)) }
    }

    @Test("Damage to the files is either reported or harmless, without a crash")
    func damaged() async throws {
        let template = try await DamageTemplate()
        var (found, clean) = (0, 0)
        for seed in seeds {
            let damage = Damage(seed: seed)
            var queue = try await DamagedQueue(template, damage)
            if try await queue.run() { found += 1 } else { clean += 1 }
            #expect(queue.faults == [], "\(damage)")
        }
        print("Damaged files: \(found) cases reported, \(clean) harmless")
        #expect(found + clean == 1 || (found > 0 && clean > 0))
    }

    @Test("The search for faults finds a changed title and a changed answer")
    func negativeControl() async throws {
        let template = try await DamageTemplate()
        let edits = [
            "UPDATE alerts SET title = 'Other' WHERE id = 2",
            "UPDATE alerts SET button_index = 1 WHERE id = 2",
        ]
        for edit in edits {
            let queue = try CommandLineQueue()
            try await DamageTemplate.copy(template.queue, to: queue)
            #expect(try await queue.faults(against: template.ledger) == [])
            try await queue.forge(edit)
            #expect(try await queue.run("audit", "verify").code == 65)
            let faults = try await queue.faults(against: template.ledger)
            #expect(faults.contains { $0.contains("lost or changed") }, "\(faults)")
        }
    }
}
