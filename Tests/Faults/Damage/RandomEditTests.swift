import AlertQueue
import Foundation
import SQLite
import TestSupport
import Testing

@Suite("Random edits", .inParallel)
struct RandomEditTests {
    static let count = FaultForm.count(short: 300, full: 100_000)

    /// The seed in `ALERTQ_EDIT_SEED` alone, or the number for this form, from a random one on.
    private var seeds: Range<UInt64> {
        let wanted = ProcessInfo.processInfo.environment["ALERTQ_EDIT_SEED"]
        if let seed = wanted.flatMap(UInt64.init) { return seed..<seed + 1 }
        let first = UInt64.random(in: 0..<1 << 60)
        return first..<first + UInt64(Self.count)
    }

    @Test("Every edit is either found by the check against a saved head or changes no output")
    func edits() async throws {
        let template = try EditedQueue()
        defer { template.remove() }
        let head = try await template.fill()
        let reading = template.clock.now()
        let original = try Data(contentsOf: URL(filePath: template.path))
        let told = try await told(by: original, reading)
        #expect(told.contains { $0.hasPrefix("new: ") })
        try #require(try await self.told(by: original, reading) == told)
        let workers = ProcessInfo.processInfo.activeProcessorCount
        // Drawn once: these are the seeds that are printed, and used.
        let seeds = self.seeds
        FaultForm.report("Random edits from seed \(seeds.lowerBound)")
        let counts = await withTaskGroup(of: [Result: Int].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var counts: [Result: Int] = [:]
                    for seed in seeds where seed % UInt64(workers) == worker {
                        let result = await Self.result(of: seed, on: original, reading, head, told)
                        counts[result, default: 0] += 1
                    }
                    return counts
                }
            }
            return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
        FaultForm.report(
            "Random edits: "
                + Result.allCases.map { "\(counts[$0] ?? 0) \($0)" }.joined(separator: ", "))
        #expect(counts[.wrong] == nil)
        #expect(seeds.count == 1 || (counts[.named] != nil && counts[.harmless] != nil))
    }

    private enum Result: CaseIterable {
        case named, harmless, refused, wrong
    }

    /// Edits a copy of a queue, and determines the consequence.
    private static func result(
        of seed: UInt64, on original: Data, _ reading: ClockReading, _ head: AuditHead,
        _ told: [String]
    ) async -> Result {
        var edit = RandomEdit(seed: seed)
        do {
            let queue = try EditedQueue(reading)
            defer { queue.remove() }
            try original.write(to: URL(filePath: queue.path))
            guard try apply(&edit, to: queue) else { return .refused }
            guard try !queue.isFound(head) else { return .named }
            try queue.forgetTurns()
            guard let now = try await queue.toldUnlessRefused() else { return .named }
            let difference = zip(told, now).first { $0 != $1 }
            #expect(now == told, "\(edit): \(difference.map { "\($0)\n\($1)" } ?? "")")
            return now == told ? .harmless : .wrong
        } catch {
            Issue.record(error, "\(edit)")
            return .wrong
        }
    }

    @Test("The comparison finds different output after edits that matter")
    func negativeControl() async throws {
        let template = try EditedQueue()
        defer { template.remove() }
        _ = try await template.fill()
        let original = try Data(contentsOf: URL(filePath: template.path))
        let told = try await told(by: original, template.clock.now())
        for script in [
            "UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL",
            "UPDATE sources SET pending = 100", "UPDATE upkeep SET first_id = 99",
            "UPDATE alerts SET priority = 3 WHERE id = 18",
        ] {
            let queue = try EditedQueue(template.clock.now())
            defer { queue.remove() }
            try original.write(to: URL(filePath: queue.path))
            let db = try Database(path: queue.path)
            db.setTriggers(areOn: false)
            try db.execute(script)
            #expect(try await queue.told() != told, "\(script)")
        }
    }

    private static func apply(_ edit: inout RandomEdit, to queue: EditedQueue) throws -> Bool {
        let db = try Database(path: queue.path)
        return try edit.apply(to: db)
    }

    private func told(by file: Data, _ reading: ClockReading) async throws -> [String] {
        let queue = try EditedQueue(reading)
        defer { queue.remove() }
        try file.write(to: URL(filePath: queue.path))
        try queue.forgetTurns()
        return try await queue.told()
    }
}
