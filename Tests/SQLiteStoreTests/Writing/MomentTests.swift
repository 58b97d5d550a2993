import AlertCore
import Foundation
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

/// Deadlines and snoozes given as dates, on clocks that are set.
@Suite("Dates as deadlines", .inParallel)
struct MomentTests: StoreSuite {
    private static let hour: Int64 = 3_600_000

    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// The date that is some milliseconds ahead on the wall clock.
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

    @Test("A date follows a wall clock that is set back, a duration does not")
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

    @Test("A date has passed when the wall clock is set beyond it, in any boot")
    func setForward() async throws {
        let moment = try await store.ask(question(moment(in: Self.hour))).id
        let length = try await store.ask(question(.after(.seconds(3600)))).id
        setWall(by: Self.hour)
        try await store.sweep(atMost: .max)
        #expect(try await store.record(moment).response?.outcome == .expired)
        #expect(try await store.record(length).response == nil)
        try await expectSound()
    }

    @Test("The clock that counts is stored, reported, and part of what the log proves")
    func told() async throws {
        let moment = try await store.ask(question(moment(in: Self.hour)))
        let length = try await store.ask(question(.after(.seconds(3600))))
        for asked in [moment, length] {
            let record = try await store.record(asked.id)
            #expect(record.followsWallClock == (asked.id == moment.id))
            #expect(record.followsWallClock == asked.followsWallClock)
        }
        let entries = try await store.entries(limit: 9)
        #expect(entries.first?.asked?.expiry?.bootMilliseconds == nil)
        #expect(entries.last?.asked?.expiry?.bootMilliseconds != nil)
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

    @Test("A snooze until a date ends by the wall clock")
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

    @Test("At the end of the year 9999, both verifiers read the farthest deadline and snooze")
    func lastMoment() async throws {
        clock.setWall(milliseconds: Timestamp.plain.upperBound - 1000)
        let length = try await store.ask(.yesNo(deadline: .after(.seconds(1)))).id
        _ = try await store.ask(.yesNo(deadline: moment(in: 1000)))
        _ = try await store.snooze(length, until: moment(in: 1000), by: .ana)
        for end in [.after(.milliseconds(1001)), moment(in: 1001)] as [Alert.Deadline] {
            #expect(await thrown { try await store.ask(.yesNo(deadline: end)) }?.kind == "invalid")
        }
        let verified = try await Child.run(
            "python3", AuditVerificationTests.verifier, queue.path)
        #expect(verified.code == 0 && verified.output.hasPrefix("3 "), "\(verified)")
        try await expectSound()
    }

    @Test("An open manager applies a deadline once its date has come, even if clocks were set")
    func manager() async throws {
        let manager = try await queue.manager(clock: clock)
        let id = try await manager.show(question(moment(in: 60_000)))
        setWall(by: -30_000)
        clock.advance(by: .seconds(60))
        // The alarm has gone off too early, and is set again.
        #expect(await eventually { clock.sleeperCount > 0 })
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 0)
        clock.advance(by: .seconds(30))
        #expect(
            try await eventually {
                try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 1
            })
        #expect(try await manager.record(id).response?.button?.id == "No")
        await manager.close()
        await store.close()
    }

    /// Expects that the log verifies.
    private func expectSound(closes: Bool = true) async throws {
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        if closes { await store.close() }
    }
}
