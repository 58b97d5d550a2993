import AlertCore
import AlertQueueTesting
import TextFormats

extension StoreContract {
    static let validity = [
        StoreCheck("An answer is stale once it was given longer ago than it is valid") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let asked = try await store.ask(limited).record
            try expectEqual(asked.alert.validFor, .seconds(60), "the validity that was asked")
            queue.clock.advance(by: .seconds(3600))
            let answered = try await other.answer(asked.id)
            try expect(answered.response?.isStale == false, "it is fresh when it is given")
            queue.clock.advance(by: .milliseconds(59_999))
            for isStale in [false, true] {
                for (place, record) in try await readings(of: asked.id, store, other) {
                    try expectEqual(record.response?.isStale, isStale, place)
                    try expectEqual(record.alert.validFor, .seconds(60), "validity")
                }
                queue.clock.advance(by: .milliseconds(1))
            }
            try await store.expectSound()
        },
        StoreCheck("A no, and an answer that nothing limits, never go stale") { queue in
            let store = try await queue.open()
            let no = try await store.ask(limited).record.id
            try await store.answer(no, 1)
            let unlimited = try await store.ask().record.id
            try await store.answer(unlimited)
            let cancelled = try await store.ask(.limited("Another?")).record.id
            _ = try await store.resolve(cancelled, .cancel(handled: false), by: .ben)
            queue.clock.advance(by: .seconds(86_400))
            for id in [no, unlimited, cancelled] {
                try expect(try await store.record(id).response?.isStale == false, "alert \(id)")
            }
            try await store.expectSound()
        },
        StoreCheck(
            "How old an answer is depends on the boot clock, and in another boot on the wall"
        ) {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(limited).record.id
            try await store.answer(id)
            let start = queue.clock.now().wallMilliseconds
            for offset in [600_000, -600_000, 0] as [Int64] {
                queue.clock.setWall(milliseconds: start + offset)
                try expect(
                    try await store.record(id).response?.isStale == false, "with the clock set")
            }
            let rebooted = ManualClock(
                ClockReading(
                    wallMilliseconds: start + 59_000, bootMilliseconds: 5, boot: "other"))
            let later = try await queue.open(rebooted)
            try expect(try await later.record(id).response?.isStale == false, "after a reboot")
            rebooted.advance(by: .seconds(1))
            try expect(try await later.record(id).response?.isStale == true, "a minute later")
            try await later.expectSound()
        },
        StoreCheck("A default that was applied goes stale, too") { queue in
            let store = try await queue.open()
            for (button, isStale) in [("Yes", true), ("No", false)] {
                var alert = Alert.limited("Go on?")
                (alert.deadline, alert.defaultButton) = (.after(.seconds(5)), button)
                let id = try await store.ask(alert).record.id
                queue.clock.advance(by: .seconds(6))
                try expect(try await store.expired(id).response?.isStale == false, "at first")
                queue.clock.advance(by: .seconds(58))
                try expect(try await store.record(id).response?.isStale == false, "within a minute")
                queue.clock.advance(by: .seconds(1))
                try expectEqual(try await store.record(id).response?.isStale, isStale, button)
            }
            try await store.expectSound()
        },
        StoreCheck("A default that is applied before its deadline counts from then") { queue in
            let store = try await queue.open()
            var alert = Alert.limited("Go on?")
            (alert.deadline, alert.defaultButton) = (.after(.seconds(36_000)), "Yes")
            let id = try await store.ask(alert).record.id
            _ = try await store.resolve(id, .expireUnattended, by: .ben)
            for isStale in [false, true] {
                let record = try await store.record(id)
                try expectEqual(record.response?.outcome, .expired, "outcome")
                try expectEqual(record.response?.isStale, isStale, "whether it is stale")
                queue.clock.advance(by: .seconds(60))
            }
            try await store.expectSound()
        },
        StoreCheck("A default counts from its deadline on, however late that is noticed") { queue in
            var alert = Alert.limited("Go on?")
            (alert.deadline, alert.defaultButton) = (.after(.seconds(5)), "Yes")
            alert.key = "k"
            let store = try await queue.open()
            let id = try await store.ask(alert).record.id
            queue.clock.advance(by: .seconds(65))
            // Whether it is read or stored first.
            let joined = try await store.ask(alert).record
            try expectEqual(joined.id, id, "the alert")
            for record in [try await store.record(id), joined, try await store.expired(id)] {
                try expectEqual(record.response?.outcome, .expired, "outcome")
                try expect(record.response?.isStale == true, "it is stale")
            }
            try await store.expectSound()
        },
        StoreCheck("A stale answer starts no command, and is collected for that") {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(limited).record.id
            try await store.answer(id)
            queue.clock.advance(by: .seconds(60))
            let start = Change.run(id, .started(allowsDefault: true))
            let refused = try await store.commit(start, by: .ben)
            try expect(!refused.isNew, "it allows nothing")
            try expectEqual(refused.unused?.reason, .stale, "why it doesn't")
            try expect(refused.record.response?.isStale == true, "it is still stale")
            let again = try await store.commit(.collect(id, because: .stale), by: .ben)
            try expect(!again.isNew, "it is collected")
            let kinds = try await store.kinds(of: id)
            try expectEqual(kinds, [.asked, .resolved, .collected], "entries")
            let entry = try require(try await store.entries(of: id, limit: 9).last, "entry")
            try expectEqual(entry.meaning, .unused(.stale), "the reason")
            try await store.expectSound()
        },
        StoreCheck("What was collected as stale stays so, wherever the clock is set") { queue in
            let store = try await queue.open()
            let ids = [
                try await store.ask(limited), try await store.ask(.limited("Another?")),
            ].map(\.record.id)
            for id in ids { try await store.answer(id) }
            let start = queue.clock.now().wallMilliseconds
            queue.clock.advance(by: .seconds(60))
            for (id, reason) in zip(ids, [EntryReason.stale, nil]) {
                _ = try await store.commit(.collect(id, because: reason), by: .ben)
            }
            let rebooted = ClockReading(
                wallMilliseconds: start, bootMilliseconds: 5, boot: "other")
            let later = try await queue.open(ManualClock(rebooted))
            let found = [try await later.record(ids[0]), try await later.record(ids[1])]
            try expectEqual(found.map(\.response?.isStale), [true, false], "stale")
            try expect(try await later.ask(limited).record.response?.isStale == true, "joined")
            let run = Change.run(ids[0], .started(allowsDefault: true))
            try expect(try await !later.commit(run, by: .ben).isNew, "it allows nothing")
            try await later.expectSound()
        },
        StoreCheck("A question whose answer is valid for another time is another question") {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(limited).record.id
            try expect(try await !store.ask(limited).isNew, "the same question joins")
            for length in [nil, Duration.seconds(61)] {
                var other = limited
                other.validFor = length
                let error = try await expectError("keyConflict") { try await store.ask(other) }
                try expectEqual(error, .keyConflict("k", id, part: "validity"), "the error")
            }
        },
    ]

    private static let limited = Alert.limited(key: "k")

    /// An alert as each way of reading has it.
    private static func readings(
        of id: Alert.ID, _ store: any AlertStore, _ other: any AlertStore
    ) async throws(AlertError) -> [(place: String, record: AlertRecord)] {
        var found: [(String, AlertRecord)] = [
            ("by id", try await store.record(id)), ("elsewhere", try await other.record(id)),
            ("asked again", try await other.ask(limited).record),
        ]
        for record in try await store.history(HistoryFilter(), limit: 9) {
            found.append(("in the history", record))
        }
        let awaitingHook = RecordQuery(.awaitingHook(HistoryFilter()), limit: 9)
        for record in try await store.page(awaitingHook).records {
            found.append(("uncollected", record))
        }
        return found
    }
}

extension Alert {
    /// A question whose answer is valid for a minute.
    fileprivate static func limited(_ title: String = "Go on?", key: String? = nil) -> Alert {
        var alert = Alert.yesNo(title, key: key)
        alert.validFor = .seconds(60)
        return alert
    }
}
