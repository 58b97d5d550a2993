import AlertCore
import AlertQueueTesting
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// Deadlines and snoozes that were given as moments, on clocks that are set.
@Suite("Moments", .inParallel)
struct MomentTests: StoreSuite {
    private static let hour: Int64 = 3_600_000

    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// The moment that lies some milliseconds ahead on the wall clock.
    private func moment(in milliseconds: Int64) -> Alert.Deadline {
        .at(Timestamp.date(milliseconds: clock.now().wallMilliseconds + milliseconds))
    }

    private func question(_ deadline: Alert.Deadline) -> Alert {
        var alert = Alert.yesNo(deadline: deadline)
        alert.defaultButton = "No"
        return alert
    }

    private func setWall(by milliseconds: Int64) {
        clock.setWall(milliseconds: clock.now().wallMilliseconds + milliseconds)
    }

    @Test("A moment follows the wall clock that is set back, a length of time does not")
    func setBack() async throws {
        let moment = try await store.ask(question(moment(in: Self.hour))).id
        let length = try await store.ask(question(.after(.seconds(3600)))).id
        setWall(by: -Self.hour)
        clock.advance(by: .seconds(3600))
        try await store.sweep(atMost: .max)
        #expect(try await store.record(length).response?.outcome == .expired)
        #expect(try await store.record(moment).response == nil)
        #expect(try await store.pending(limit: 9).map(\.id) == [moment])
        #expect(try await store.pendingCount() == 1)
        #expect(try await store.due().isNow == false)
        let next = try #require(try await store.due().next)
        #expect(clock.now().time(until: next) == .seconds(3600))
        clock.advance(by: .seconds(3600))
        #expect(try await store.due().isNow)
        #expect(try await store.pendingCount() == 0)
        #expect(try await store.pending(limit: 9).isEmpty)
        #expect(await thrown { try await store.answer(moment, 0) }?.kind == "late")
        #expect(try await store.record(moment).response?.by == .policy)
        try await expectSound()
    }

    @Test("A moment has come when the wall clock is set beyond it, in any boot")
    func setForward() async throws {
        let moment = try await store.ask(question(moment(in: Self.hour))).id
        let length = try await store.ask(question(.after(.seconds(3600)))).id
        setWall(by: Self.hour)
        try await store.sweep(atMost: .max)
        #expect(try await store.record(moment).response?.outcome == .expired)
        #expect(try await store.record(length).response == nil)
        try await expectSound()
    }

    @Test("Which clock counts is stored, told, and part of what the log proves")
    func told() async throws {
        let moment = try await store.ask(question(moment(in: Self.hour)))
        let length = try await store.ask(question(.after(.seconds(3600))))
        for asked in [moment, length] {
            let record = try await store.record(asked.id)
            #expect(record.followsWallClock == (asked.id == moment.id))
            #expect(record.followsWallClock == asked.followsWallClock)
        }
        let details = try await store.entries(after: 0, of: nil, limit: 9).compactMap(\.detail)
        #expect(details.first?.contains(", wall clock; ") == true)
        #expect(details.last?.contains(", boot clock ") == true)
        try await expectSound(closes: false)
        // A default would be applied early: by the boot clock, or late: by the wall clock.
        for (id, script) in [
            (moment.id, "UPDATE alerts SET expires_boot_ms = 1 WHERE id = \(moment.id)"),
            (length.id, "UPDATE alerts SET expires_boot_ms = NULL WHERE id = \(length.id)"),
        ] {
            try queue.forge(script)
            #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        }
        #expect(try await store.verify(expecting: nil).problems.count == 2)
        await store.close()
    }

    @Test("A snooze until a moment ends by the wall clock")
    func snooze() async throws {
        let id = try await store.ask(.yesNo()).id
        _ = try await store.snooze(id, until: moment(in: Self.hour), by: .ana)
        setWall(by: -Self.hour)
        clock.advance(by: .seconds(3600))
        try await store.sweep(atMost: .max)
        #expect(try await store.next(ScreenQuery(for: ["x"])).record == nil)
        try await expectSound(closes: false)
        clock.advance(by: .seconds(3600))
        try await store.sweep(atMost: .max)
        #expect(try await store.next(ScreenQuery(for: ["x"])).record?.id == id)
        for end in [moment(in: 0), moment(in: 200 * 366 * 24 * Self.hour)] {
            let error = await thrown { try await store.snooze(id, until: end, by: .ana) }
            #expect(error?.kind == "invalid")
        }
        try await expectSound()
    }

    @Test("An open manager applies it once its moment has come, whatever was set in between")
    func manager() async throws {
        let manager = try await queue.manager(clock: clock)
        let id = try await manager.show(question(moment(in: 60_000)))
        setWall(by: -30_000)
        clock.advance(by: .seconds(60))
        // The alarm has gone off too early, and is set again.
        #expect(await eventually { clock.sleeperCount > 0 })
        #expect(try queue.integer("SELECT count(*) FROM responses") == 0)
        clock.advance(by: .seconds(30))
        #expect(
            try await eventually { try queue.integer("SELECT count(*) FROM responses") == 1 })
        #expect(try await manager.record(id).response?.button?.id == "No")
        await manager.close()
        await store.close()
    }

    /// Both checks of the log find nothing.
    private func expectSound(closes: Bool = true) async throws {
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        #expect(try await store.quickAuditReport(expecting: nil) != nil)
        if closes { await store.close() }
    }
}
