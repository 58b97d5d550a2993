import AlertCore
import AlertQueueTesting
import TextFormats

private let year: Int64 = 365 * 86_400_000

/// The time on both clocks, relative to the start of a deadline or a snooze of 60 seconds.
private struct Moment: Sendable {
    let boot: String
    let bootSeconds: Int64
    let wallMilliseconds: Int64
    let isLate: Bool

    func clock(after start: ClockReading) -> ManualClock {
        ManualClock(
            ClockReading(
                wallMilliseconds: start.wallMilliseconds + wallMilliseconds,
                bootMilliseconds: start.bootMilliseconds + bootSeconds * 1000, boot: boot))
    }

    static let all = [
        // Within a boot the boot clock decides, which nobody can set.
        Moment(boot: "manual", bootSeconds: 59, wallMilliseconds: 59_000, isLate: false),
        Moment(boot: "manual", bootSeconds: 59, wallMilliseconds: year, isLate: false),
        Moment(boot: "manual", bootSeconds: 59, wallMilliseconds: -year, isLate: false),
        Moment(boot: "manual", bootSeconds: 60, wallMilliseconds: 60_000, isLate: true),
        Moment(boot: "manual", bootSeconds: 60, wallMilliseconds: -year, isLate: true),
        // In another boot, or in another time namespace, the wall clock decides.
        Moment(boot: "other", bootSeconds: -990, wallMilliseconds: 59_999, isLate: false),
        Moment(boot: "other", bootSeconds: -990, wallMilliseconds: 60_000, isLate: true),
        Moment(boot: "other", bootSeconds: 9999, wallMilliseconds: 59_999, isLate: false),
        Moment(boot: "other", bootSeconds: 0, wallMilliseconds: year, isLate: true),
    ]
}

extension StoreContract {
    static let time = [
        StoreCheck("Within a boot, boot time decides if an answer is late, else the wall clock") {
            queue in
            let store = try await queue.open()
            for moment in Moment.all {
                let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
                let later = try await queue.open(moment.clock(after: queue.clock.now()))
                let found = try await later.find(.id(id))
                try expectEqual(
                    found.record.response?.outcome, moment.isLate ? .expired : nil, "\(moment)")
                try expectEqual(
                    try await later.pending(limit: 9).map(\.id), moment.isLate ? [] : [id],
                    "what waits, \(moment)")
                try expectEqual(
                    try await later.pendingCount(), moment.isLate ? 0 : 1,
                    "how many wait, \(moment)")
                if moment.isLate {
                    try await expectLate(id, on: later)
                } else {
                    try await later.answer(id)
                }
                try expectEqual(
                    try await later.record(id).response?.outcome,
                    moment.isLate ? .expired : .answered, "\(moment)")
                await later.close()
            }
            try await store.expectSound()
        },
        StoreCheck("A late answer is refused, and the expiry is the response") { queue in
            let store = try await queue.open()
            for defaultButton in [nil, "No"] {
                var alert = Alert.yesNo(deadline: .after(.seconds(60)))
                alert.defaultButton = defaultButton
                let id = try await store.ask(alert).record.id
                queue.clock.advance(by: .seconds(60))
                let response = try await expectLate(id, on: store)
                try expectEqual(response.outcome, .expired, "outcome")
                try expectEqual(response.button?.id, defaultButton, "the button")
                try expectEqual(response.buttonIndex, defaultButton == nil ? -1 : 1, "its index")
                try expectEqual(response.by, defaultButton == nil ? .system : .policy, "by")
                try expect(response.responder == nil, "nobody is the responder")
                let again = try await expectError("late") { try await store.answer(id) }
                try expectEqual(again.response, response, "the response in the next error")
                let entry = try require(
                    try await store.entries(LogQuery(.last(1), of: id, limit: 1)).first, "entry")
                try expectEqual(entry.event.kind, .resolved, "kind of the entry")
                try expectEqual(
                    entry.event.responder, ContractQueue.keeper.through("deadline").recorded,
                    "the caller that stored it")
                try expect(
                    entry.expired?.isUnseen == true && entry.expired?.isEarly == false,
                    "the entry says that it was not shown: \(entry.detail ?? "-")")
            }
            try await store.expectSound()
        },
        StoreCheck("An answer after an early expiry is late only once the deadline has passed") {
            queue in
            let store = try await queue.open()
            var alert = Alert.yesNo(deadline: .after(.seconds(60)))
            alert.defaultButton = "No"
            let id = try await store.ask(alert).record.id
            _ = try await store.resolve(id, .expireUnattended, by: .ana)
            try await expectError("alreadyResolved") { try await store.answer(id) }
            queue.clock.advance(by: .seconds(60))
            try await expectError("late") { try await store.answer(id) }
        },
        StoreCheck("A late snooze is refused, and the expiry is stored") { queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            queue.clock.advance(by: .seconds(60))
            let error = try await expectError("late") {
                try await store.snooze(id, for: nil, by: .ana)
            }
            try expectEqual(error.response?.outcome, .expired, "the outcome in the error")
            try expectEqual(try await store.kinds(), [.asked, .resolved], "entries")
            try expectEqual(try await store.record(id).snoozes, 0, "how often it was snoozed")
            try await store.expectSound()
        },
        StoreCheck("An expiry is stored only when it is due, and once") { queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            queue.clock.advance(by: .milliseconds(59_999))
            let early = try await store.find(.id(id))
            try expect(!early.isOverdue && early.record.response == nil, "it is not due")
            try expectEqual(early.timeLeft, .milliseconds(1), "the time that is left")
            queue.clock.advance(by: .milliseconds(1))
            for _ in 1...2 {
                let record = try await store.expired(id)
                try expectEqual(record.response?.outcome, .expired, "outcome")
            }
            try expectEqual(try await store.kinds(), [.asked, .resolved], "entries")
        },
        StoreCheck("Expiries are stored without any call to the store") { queue in
            let (store, idle) = (try await queue.open(), try await queue.open())
            for number in 1...150 {
                try await store.ask(.yesNo("\(number)", deadline: .after(.seconds(60))))
            }
            try await store.ask(.yesNo("stays", deadline: .after(.seconds(61))))
            await store.close()
            queue.clock.advance(by: .seconds(60))
            try await expectSoon("the expiries are stored") {
                try await idle.auditHead()?.sequence == 151 + 150
            }
            try expectEqual(try await idle.pendingCount(), 1, "what waits")
            try await idle.expectSound()
        },
        StoreCheck("A deadline given as a date follows the wall clock when it is set") { queue in
            let store = try await queue.open()
            let start = queue.clock.now().wallMilliseconds
            let date = Timestamp.date(milliseconds: start + 60_000)
            let id = try await store.ask(.yesNo(deadline: .at(date))).record.id
            queue.clock.setWall(milliseconds: start - 3600_000)
            queue.clock.advance(by: .seconds(120))
            try expect(try await store.record(id).response == nil, "it has not passed")
            queue.clock.setWall(milliseconds: start + 60_000)
            try expectEqual(
                try await store.record(id).response?.outcome, .expired, "the outcome")
            try await expectSoon("the expiry is stored without a call") {
                try await !store.find(.id(id)).isOverdue
            }
        },
        StoreCheck("Where the boot is unknown, deadlines and snoozes follow the wall clock") {
            queue in
            var unknown = queue.clock.now()
            unknown.boot = "unknown"
            unknown.isBootUnknown = true
            let store = try await queue.open(ManualClock(unknown))
            let asked = try await store.ask(.yesNo(deadline: .after(.seconds(60))))
            try expect(asked.record.followsWallClock, "the deadline")
            let id = try await store.ask().record.id
            _ = try await store.snooze(id, for: .seconds(60), by: .ana)
            await store.close()
            // Even a boot of the same name is another one.
            unknown.isBootUnknown = false
            unknown.bootMilliseconds += 3600_000
            let clock = ManualClock(unknown)
            let later = try await queue.open(clock)
            try expect(try await later.record(asked.record.id).response == nil, "it waits")
            try expectEqual(try await later.nextID("x"), asked.record.id, "the other is snoozed")
            clock.setWall(milliseconds: unknown.wallMilliseconds + 60_000)
            try expectEqual(
                try await later.record(asked.record.id).response?.outcome, .expired, "the outcome")
            try expectEqual(try await later.nextID("x"), id, "the snooze is over")
            try await later.expectSound()
        },
        StoreCheck("An overdue alert reads as expired even before its expiry is stored") { queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            try await store.ask(.yesNo("Another"))
            queue.clock.advance(by: .seconds(60))
            for _ in 1...3 {
                let found = try await store.find(.id(id))
                try expectEqual(found.record.response?.outcome, .expired, "the outcome")
                try expectEqual(found.record.state, .resolved, "the state")
                try expectEqual(try await store.pending(limit: 9).map(\.id), [2], "what waits")
                let listed = try await store.pending(orOverdue: true, limit: 9)
                for one in listed where one.id != 2 {
                    try expectEqual(one.id, id, "what else is not resolved")
                    try expectEqual(one.response?.outcome, .expired, "its outcome in the list")
                    try expect(!one.isStored, "it says that this is not stored")
                }
                try expectEqual(try await store.pendingCount(), 1, "how many wait")
                try expectEqual(try await store.nextID("x"), 2, "what is shown next")
                try expectEqual(
                    try await store.history(HistoryFilter(), limit: 9).map(\.id), [id],
                    "the history, now that it is stored")
                try expect(try await store.record(id).isStored, "it is stored")
            }
        },
        StoreCheck("Collecting an expiry stores it, and marks it as collected") { queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            queue.clock.advance(by: .seconds(61))
            try expect(try await store.collect(id, by: .ana), "it is collected")
            try expect(try await !store.collect(id, by: .ana), "it is collected once")
            try expectEqual(
                try await store.kinds(), [.asked, .resolved, .collected], "entries")
            try await store.expectSound()
        },
        StoreCheck("A deadline or snooze that ends after the year 9999 is refused") { queue in
            let store = try await queue.open()
            let last = Timestamp.plain.upperBound
            queue.clock.setWall(milliseconds: last - 60_000)
            var alert = Alert.yesNo(deadline: .after(.seconds(60)))
            let farthest = try await store.ask(alert).record
            try expectEqual(
                farthest.expiresAt.map(Timestamp.milliseconds), last, "the farthest deadline")
            alert.snooze = .seconds(61)
            for end in [
                .after(.milliseconds(60_001)), .after(Alert.Limit.duration),
                .at(Timestamp.date(milliseconds: last + 1)),
            ] as [Alert.Deadline] {
                alert.deadline = end
                try await expectError("invalid") { try await store.ask(alert) }
                try await expectError("invalid") {
                    try await store.snooze(farthest.id, until: end, by: .ana)
                }
            }
            alert.deadline = nil
            let own = try await store.ask(alert).record.id
            try await expectError("invalid") {
                try await store.snooze(own, until: nil, by: .ana)
            }
            let end = Alert.Deadline.at(Timestamp.date(milliseconds: last))
            let snoozed = try await store.snooze(own, until: end, by: .ana)
            try expectEqual(
                snoozed.snoozedUntil.map(Timestamp.milliseconds), last, "the farthest snooze")
            try expectEqual(try await store.kinds(), [.asked, .asked, .snoozed], "entries")
            try await store.expectSound()
        },
        StoreCheck("Nothing is stored while the clock is outside of the years 1970 to 9999") {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            let start = queue.clock.now().wallMilliseconds
            for milliseconds in [.min, -1, Timestamp.plain.upperBound + 1, .max] as [Int64] {
                queue.clock.setWall(milliseconds: milliseconds)
                try await expectError("invalid") { try await store.ask() }
                try await expectError("invalid") { try await store.answer(id) }
                try await expectError("invalid") {
                    try await store.snooze(id, for: .seconds(1), by: .ana)
                }
                try expectEqual(try await store.pending(limit: 9).map(\.id), [id], "what waits")
            }
            queue.clock.advance(by: .seconds(60))
            try expectEqual(
                try await store.record(id).response?.outcome, .expired, "what is read meanwhile")
            try expectEqual(try await store.kinds(), [.asked], "entries")
            queue.clock.setWall(milliseconds: start)
            try await expectSoon("the expiry is stored afterwards, without a call") {
                try await !store.find(.id(id)).isOverdue
            }
            try expectEqual(try await store.kinds(), [.asked, .resolved], "entries")
            try await store.expectSound()
        },
    ]

    /// Makes sure that an answer is refused because of the deadline; returns the expiry.
    ///
    /// The store may have stored the expiry by itself just before.
    @discardableResult
    private static func expectLate(
        _ id: Alert.ID, on store: any AlertStore
    ) async throws -> Response {
        let error = try await expectError("late") {
            try await store.answer(id)
        }
        let response = try require(error.response, "response in the error")
        try expectEqual(response.outcome, .expired, "the outcome in the error")
        try expectEqual(
            try await store.record(id).response?.resolvedAt, response.resolvedAt, "what is stored")
        return response
    }
}

// MARK: - Snoozes

extension StoreContract {
    static let snoozes = [
        StoreCheck("Within a boot, boot time decides when a snooze ends, else the wall clock") {
            queue in
            let store = try await queue.open()
            for moment in Moment.all {
                let id = try await store.ask().record.id
                let receipt = try await store.commit(
                    .snooze(id, until: .after(.seconds(60))), by: .ana)
                try expect(receipt.isNew && receipt.record.snoozedUntil != nil, "it is snoozed")
                try expectEqual(receipt.record.snoozes, 1, "how often")
                let later = try await queue.open(moment.clock(after: queue.clock.now()))
                try expectEqual(
                    try await later.nextID("x"), moment.isLate ? id : nil, "\(moment)")
                try await later.answer(id)
                await later.close()
            }
            try await store.expectSound()
        },
        StoreCheck("A snooze lasts for the given time, else the alert's, else five minutes") {
            queue in
            let store = try await queue.open()
            let plain = try await store.ask().record.id
            var alert = Alert.yesNo()
            alert.snooze = .seconds(7)
            let own = try await store.ask(alert).record.id
            let now = queue.clock.now().wallMilliseconds
            let date = Timestamp.date(milliseconds: now + 60_000)
            for (id, end, milliseconds) in [
                (plain, nil, 300_000), (own, nil, 7000), (own, .after(.seconds(1)), 1000),
                (own, .at(date), 60_000),
            ] as [(Alert.ID, Alert.Deadline?, Int64)] {
                let record = try await store.snooze(id, until: end, by: .ana)
                try expectEqual(
                    record.snoozedUntil.map(Timestamp.milliseconds), now + milliseconds, "end")
            }
            try expectEqual(try await store.record(own).snoozes, 3, "how often")
            try expectEqual(
                try await store.kinds(of: own), [.asked, .snoozed, .snoozed, .snoozed], "entries")
            try await store.expectSound()
        },
        StoreCheck("Snoozing an ended or overdue alert, or for an invalid time, is refused") {
            queue in
            let store = try await queue.open()
            let overdue = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            let ended = try await store.ask().record.id
            let waiting = try await store.ask().record.id
            let response = try await store.answer(ended).response
            let error = try await expectError("alreadyResolved") {
                try await store.snooze(ended, for: nil, by: .ana)
            }
            try expectEqual(error.response, response, "the response in the error")
            let past = queue.clock.now().wallMilliseconds
            queue.clock.advance(by: .seconds(60))
            try await expectError("late") {
                try await store.snooze(overdue, for: nil, by: .ana)
            }
            for end in [
                .after(.zero), .after(.seconds(-1)),
                .after(Alert.Limit.duration + .milliseconds(1)),
                .at(Timestamp.date(milliseconds: past)),
            ] as [Alert.Deadline] {
                try await expectError("invalid") {
                    try await store.snooze(waiting, until: end, by: .ana)
                }
            }
            try expectEqual(try await store.record(waiting).snoozes, 0, "snoozes")
        },
        StoreCheck("Snoozes end without any call to the store") { queue in
            let (store, idle) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            _ = try await store.snooze(id, for: .seconds(60), by: .ana)
            try expectEqual(try await store.waiting(besides: 0).count, 0, "what can be shown")
            await store.close()
            queue.clock.advance(by: .seconds(60))
            try await expectSoon("it can be shown again") {
                try await idle.waiting(besides: 0).count == 1
            }
            try expect(try await idle.record(id).snoozedUntil == nil, "it is no longer snoozed")
            try await idle.expectSound()
        },
        StoreCheck("Ending a snoozed alert ends its snooze") { queue in
            let store = try await queue.open()
            let id = try await store.ask().record.id
            _ = try await store.snooze(id, for: .seconds(60), by: .ana)
            let record = try await store.resolve(id, .withdraw(), by: .ben)
            try expect(record.snoozedUntil == nil, "it is not snoozed")
            try expectEqual(try await store.record(id), record, "the record")
            try await store.expectSound()
        },
    ]
}
