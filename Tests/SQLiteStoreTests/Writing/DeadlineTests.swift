import AlertCore
import AlertQueueTesting
import Foundation
import StoreChecks
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

private let year: Int64 = 365 * 86_400_000

@Suite("Deadlines", .inParallel)
struct DeadlineTests: StoreSuite {
    let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    /// The clocks when the answer comes, for a deadline after 60 seconds.
    struct Moment: Sendable {
        let boot: String
        let bootSeconds: Int64
        let wallMilliseconds: Int64
        let isLate: Bool
    }

    static let moments = [
        // Within the boot, the clock that counts can't be set.
        Moment(boot: "manual", bootSeconds: 59, wallMilliseconds: 59_000, isLate: false),
        Moment(boot: "manual", bootSeconds: 59, wallMilliseconds: year, isLate: false),
        Moment(boot: "manual", bootSeconds: 59, wallMilliseconds: -year, isLate: false),
        Moment(boot: "manual", bootSeconds: 60, wallMilliseconds: 60_000, isLate: true),
        Moment(boot: "manual", bootSeconds: 60, wallMilliseconds: -year, isLate: true),
        Moment(boot: "manual", bootSeconds: 60, wallMilliseconds: year, isLate: true),
        // After another start, or in another time namespace, the wall clock decides.
        Moment(boot: "other", bootSeconds: -990, wallMilliseconds: 59_999, isLate: false),
        Moment(boot: "other", bootSeconds: -990, wallMilliseconds: 60_000, isLate: true),
        Moment(boot: "other", bootSeconds: 9999, wallMilliseconds: 59_999, isLate: false),
        Moment(boot: "other", bootSeconds: 0, wallMilliseconds: year, isLate: true),
        Moment(boot: "other", bootSeconds: 9999, wallMilliseconds: -year, isLate: false),
    ]

    private func laterClock(_ moment: Moment) -> ManualClock {
        let start = clock.now()
        return ManualClock(
            ClockReading(
                wallMilliseconds: start.wallMilliseconds + moment.wallMilliseconds,
                bootMilliseconds: start.bootMilliseconds + moment.bootSeconds * 1000,
                boot: moment.boot))
    }

    @Test(
        "An answer is late by boot time within a boot, else by the wall clock", arguments: moments)
    func late(moment: Moment) async throws {
        let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).id
        let later = try await queue.store(clock: laterClock(moment))
        let isVisible = try await later.record(id).response?.outcome == .expired
        #expect(isVisible == moment.isLate)
        #expect(try await later.pending(limit: 9).isEmpty == moment.isLate)
        #expect(try await later.due().isNow == moment.isLate)
        let error = await thrown { try await later.answer(id, 0) }
        #expect(error?.kind == (moment.isLate ? "late" : nil))
        let outcome = try #require(try await later.record(id).response?.outcome)
        #expect(outcome == (moment.isLate ? .expired : .answered))
        await store.close()
        await later.close()
    }

    @Test("A snooze ends by boot time within a boot, else by the wall clock", arguments: moments)
    func snooze(moment: Moment) async throws {
        let id = try await store.ask(.yesNo()).id
        let snoozed = try await store.snooze(id, for: .seconds(60), by: .ana)
        #expect(snoozed.snoozes == 1 && snoozed.snoozedUntil != nil)
        let later = try await queue.store(clock: laterClock(moment))
        #expect(try await later.due().isNow == moment.isLate)
        let next = try await later.next(ScreenQuery(for: ["x"]))
        #expect((next.record?.id == id) == moment.isLate)
        #expect(try await later.due().isNow == false)
        await store.close()
        await later.close()
    }

    @Test("A late answer is refused, and the expiry is stored", arguments: [nil, "No"])
    func stored(defaultButton: String?) async throws {
        var alert = Alert.yesNo(deadline: .after(.seconds(60)))
        alert.defaultButton = defaultButton
        let id = try await store.ask(alert).id
        clock.advance(by: .seconds(60))
        guard case .late(let response)? = await thrown({ try await store.answer(id, 0) }) else {
            Issue.record("the answer was accepted")
            return
        }
        #expect(response.outcome == .expired)
        #expect(response.button?.id == defaultButton)
        #expect(response.buttonIndex == (defaultButton == nil ? -1 : 1))
        #expect(response.by == (defaultButton == nil ? .system : .policy))
        #expect(response.responder == nil)
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome = 'expired'") == 1)
        #expect(try queue.integer("SELECT pending FROM sources") == 0)
        #expect(await thrown { try await store.answer(id, 0) } == .late(response))
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("A late snooze is refused, and the expiry is stored")
    func lateSnooze() async throws {
        let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).id
        clock.advance(by: .seconds(60))
        let error = await thrown { try await store.snooze(id, for: nil, by: .ana) }
        guard case .late(let response)? = error else {
            Issue.record("the snooze was accepted")
            return
        }
        #expect(response.outcome == .expired)
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome = 'expired'") == 1)
        #expect(try queue.integer("SELECT snoozes FROM alerts") == 0)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("An expiry is stored only when it is due")
    func expire() async throws {
        let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).id
        clock.advance(by: .milliseconds(59_999))
        #expect(try await store.expire(id).response == nil)
        clock.advance(by: .milliseconds(1))
        #expect(try await store.expire(id).response?.outcome == .expired)
        #expect(try await store.expire(id).response?.outcome == .expired)
        #expect(try queue.integer("SELECT count(*) FROM audit WHERE event = 'resolved'") == 1)
        await store.close()
    }

    @Test("Collecting an expiry that is not stored yet stores it, and marks it as collected")
    func collectsExpiry() async throws {
        let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).id
        clock.advance(by: .seconds(61))
        #expect(try await store.collect(id, by: .ana))
        #expect(try await store.record(id).response?.collectedAt != nil)
        #expect(try await !store.collect(id, by: .ana))
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
    }

    @Test("A date is a deadline on the wall clock when asked, and a past one is refused")
    func date() async throws {
        let now = clock.now().wallMilliseconds
        let date = Timestamp.date(milliseconds: now + 60_000)
        let record = try await store.ask(.yesNo(deadline: .at(date)))
        #expect(record.expiresAt == date)
        clock.advance(by: .seconds(60))
        #expect(try await store.record(record.id).response?.outcome == .expired)
        for date in [date, .distantPast, Date(timeIntervalSince1970: -.infinity)] {
            #expect(
                await thrown { try await store.ask(.yesNo(deadline: .at(date))) }?.kind == "invalid"
            )
        }
        for seconds in [1e300, .infinity, .nan] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(
                await thrown { try await store.ask(.yesNo(deadline: .at(date))) }?.kind == "invalid"
            )
        }
        await store.close()
    }

    @Test("Overdue alerts are stored in batches of 100, however many there are")
    func sweep() async throws {
        for index in 0..<250 {
            try await store.ask(.yesNo("\(index)", deadline: .after(.seconds(60))))
        }
        try await store.ask(.yesNo("stays", deadline: .after(.seconds(61))))
        clock.advance(by: .seconds(60))
        #expect(try await store.pending(limit: 100).map(\.alert.title) == ["stays"])
        let before = store.position.mark ?? 0
        try await store.sweep(atMost: .max)
        #expect(store.position.mark == before &+ 3)
        #expect(
            try queue.integer("SELECT count(*) FROM alerts WHERE outcome = 'expired'") == 250)
        #expect(try await store.pendingCount() == 1)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("An expiry is news for waiting callers in the process that stores it")
    func news() async throws {
        try await store.ask(.yesNo(deadline: .after(.seconds(60))))
        clock.advance(by: .seconds(60))
        let start = store.position
        try await store.sweep(atMost: .max)
        let news = try await store.news(after: start, of: .others)
        #expect(news.hasChanged && news.events.map(\.kind) == [.resolved])
        await store.close()
    }

    @Test("An overdue or resolved alert can't be snoozed")
    func snoozeTooLate() async throws {
        let overdue = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).id
        let resolved = try await store.ask(.yesNo()).id
        try await store.answer(resolved, 0)
        clock.advance(by: .seconds(60))
        let errors = [
            await thrown { try await store.snooze(overdue, for: nil, by: .ana) },
            await thrown { try await store.snooze(resolved, for: nil, by: .ana) },
            await thrown { try await store.snooze(resolved, for: .zero, by: .ana) },
        ]
        #expect(errors.map(\.?.kind) == ["late", "alreadyResolved", "invalid"])
        await store.close()
    }

    @Test("A snooze lasts for the given time, else the alert's, else five minutes")
    func snoozeTimes() async throws {
        var alert = Alert.yesNo()
        let plain = try await store.ask(alert).id
        alert.snooze = .seconds(7)
        let own = try await store.ask(alert).id
        let now = clock.now().wallMilliseconds
        func end(_ id: Alert.ID, _ duration: Duration?) async throws -> Int64 {
            let until = try await store.snooze(id, for: duration, by: .ana).snoozedUntil
            return Timestamp.milliseconds(try #require(until)) - now
        }
        #expect(try await end(plain, nil) == 300_000)
        #expect(try await end(own, nil) == 7000)
        #expect(try await end(own, .seconds(1)) == 1000)
        let due = try await store.due()
        #expect(!due.isNow && due.next?.wallMilliseconds == now + 1000)
        #expect(try await store.record(own).snoozes == 2)
        await store.close()
    }
}
