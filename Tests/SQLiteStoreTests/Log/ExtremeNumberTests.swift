import AlertCore
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// An account that can write the file can put any number into it: that must not crash a process.
@Suite("Extreme numbers", .inParallel)
struct ExtremeNumberTests {
    static let extremes: [Int64] = [.min, .min + 1, -1, 0, .max - 1, .max]

    @Test(
        "A row with a number at the end of its range is listed, verified, and resolved or refused",
        arguments: [
            "pid", "dismiss_after_ms", "snooze_ms", "asked_ms", "asked_boot_ms", "presented_ms",
            "snoozes", "snoozed_ms, snoozed_boot_ms", "expires_ms, expires_boot_ms",
        ], extremes)
    func row(columns: String, number: Int64) async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).id
        let assignments = columns.split(separator: ", ").map { "\($0) = \(number)" }
        try queue.forge(
            "UPDATE alerts SET snoozed_boot = boot, \(assignments.joined(separator: ", "))")
        // Values that the log records are compared with it; the others are used as they are.
        let isTold = ["snoozes", "presented_ms", "snoozed_ms, snoozed_boot_ms"].contains(columns)
        let refusal = await thrown { try await store.record(id) }
        #expect(refusal?.kind == (isTold ? nil : "inconsistent"))
        _ = try await store.pending(limit: 10)
        _ = try await store.next(ScreenQuery(for: ["terminal"]))
        #expect(try await store.verify(expecting: nil).entries == 1)
        _ = await thrown { try await store.snooze(id, for: nil, by: .ana) }
        try await store.sweep(atMost: 2)
        #expect(await thrown { try await store.answer(id, 0) }?.kind == refusal?.kind)
        let responses = try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL")
        #expect(responses == (isTold ? 1 : 0))
        _ = try await store.history(.init(), limit: 10, after: nil)
        await store.close()
    }

    @Test("The first number after a restore may be any")
    func given() {
        for number in Self.extremes {
            var given = GivenNumbers()
            _ = given.resume(from: number)
            _ = given.resume(from: number)
            #expect(given.fault(ifFirst: number) == nil)
        }
    }

    @Test("Readings at the ends of the clocks' range are compared without an overflow")
    func readings() {
        let first = ClockReading(wallMilliseconds: .min, bootMilliseconds: .min, boot: "boot")
        let last = ClockReading(wallMilliseconds: .max, bootMilliseconds: .max, boot: "boot")
        #expect(first.time(until: last) == .milliseconds(Int64.max))
        #expect(last.time(until: first) == .milliseconds(Int64.min))
        #expect(last.isAtOrAfter(first) && !first.isAtOrAfter(last))
        #expect(last.advanced(by: .seconds(1)) == last)
        #expect(Duration.seconds(Int64.max).milliseconds == .max)
        #expect(Duration.seconds(Int64.min).milliseconds == .min)
    }
}
