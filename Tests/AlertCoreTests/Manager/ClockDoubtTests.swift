import AlertQueueTesting
import FoundationEssentials
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import AlertCore

/// What makes a purge doubt that the wall clock is right.
@Suite("Doubt about the clock", .inParallel)
struct ClockDoubtTests {
    private static let day = Int64(86_400_000)
    private let clock = ManualClock()
    private let store: InMemoryStore
    private let manager: AlertManager

    init() async throws {
        store = InMemoryStore(clock: clock)
        manager = try await AlertManager(store)
        try await manager.show(Alert("Asked by the right clock"))
    }

    /// Why nothing is erased that is older than a number of days.
    private func doubt(days: Int64) async throws -> String? {
        let limit = clock.now().wallMilliseconds - days * Self.day
        return try await manager.doubtAboutClock(before: Timestamp.date(milliseconds: limit))
    }

    private func reboot(ahead days: Int64) {
        let now = clock.now()
        clock.set(
            ClockReading(
                wallMilliseconds: now.wallMilliseconds + days * Self.day, bootMilliseconds: 5000,
                boot: "next"))
    }

    @Test("A clock that has gone on since something was asked is right, however quiet the queue is")
    func quiet() async throws {
        clock.isSynchronized = false
        clock.advance(by: .seconds(86_400 * 1000))
        #expect(try await doubt(days: 90) == nil)
        await manager.close()
    }

    @Test("A clock that was set ahead in this boot is wrong, even if it is synchronised")
    func step() async throws {
        clock.setWall(milliseconds: clock.now().wallMilliseconds + 3000 * Self.day)
        let doubt = try #require(try await doubt(days: 90))
        #expect(doubt.contains("2034-03-20") && doubt.contains("2026-01-01"), "\(doubt)")
        let error = await thrown {
            try await manager.purge(before: Timestamp.date(milliseconds: 0))
        }
        #expect(error?.kind == "busy", "\(error as Any)")
        // What is asked from now on is asked by this clock.
        try await manager.show(Alert("Asked by the other clock"))
        #expect(try await self.doubt(days: 90) == nil)
        await manager.close()
    }

    @Test("A small step and one back are no reason")
    func small() async throws {
        clock.setWall(milliseconds: clock.now().wallMilliseconds + 30_000)
        #expect(try await doubt(days: 1) == nil)
        clock.setWall(milliseconds: clock.now().wallMilliseconds - 3000 * Self.day)
        #expect(try await doubt(days: 1) == nil)
        await manager.close()
    }

    @Test("After a boot, a clock that nothing synchronises is wrong if all of the log is old by it")
    func boot() async throws {
        reboot(ahead: 3000)
        #expect(try await doubt(days: 90) == nil)
        clock.isSynchronized = false
        let doubt = try #require(try await doubt(days: 90))
        #expect(doubt.contains("2034-03-20") && doubt.contains("2026-01-01"), "\(doubt)")
        #expect(try await self.doubt(days: 4000) == nil)
        await manager.close()
    }
}
