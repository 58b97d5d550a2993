import AlertCore
import FoundationEssentials
import TextFormats

extension StoreContract {
    static let asking = [
        StoreCheck("An alert is found exactly as it was asked") { queue in
            let store = try await queue.open()
            var alert = Alert.withAllProperties
            alert.key = "k"
            let asked = try await store.ask(alert, by: .ben)
            try expect(asked.isNew && !asked.isOverdue, "it is new")
            try expectEqual(asked.head.sequence, 1, "its entry")
            try expectEqual(
                asked.timeLeft, .seconds(60), "the time that is left")
            let found = try await store.find(.id(asked.record.id))
            let byKey = try await store.find(
                .key("k", source: "test", of: .account(Account(uid: 1000))))
            try expectEqual(byKey.record, found.record, "the record by key")
            try expect(!found.isNew, "what is found is not new")
            try expectEqual(found.record, asked.record, "the record that is found")
            try expectEqual(found.timeLeft, asked.timeLeft, "the deadline that is found")
            try expectEqual(found.record.seen, asked.record.seen, "the digest of what is asked")
            let record = found.record
            var expected = alert
            expected.source = "test"
            expected.deadline = record.alert.deadline
            try expectEqual(record.alert, expected, "the alert")
            try expectEqual(
                record.source,
                AlertRecord.Source(
                    name: "test", .account(Account(uid: 1000)),
                    .process(ProcessIdentity(host: "desk", pid: 4712))), "source")
            try expectEqual(record.state, .queued, "state")
            try expectEqual(
                Timestamp.milliseconds(record.askedAt), queue.clock.now().wallMilliseconds, "time")
            try expect(
                record.response == nil && record.presentedAt == nil && record.snoozedUntil == nil
                    && record.snoozes == 0 && !record.isErased, "nothing has happened to it")
        },
        StoreCheck("Alerts asked at the same time through two stores are stored once each") {
            queue in
            let stores = [try await queue.open(), try await queue.open()]
            let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
                for number in 0..<64 {
                    group.addTask { try await stores[number % 2].ask(.yesNo("\(number)")) }
                }
                return try await group.reduce(into: [Receipt]()) { $0.append($1) }
            }
            try expectEqual(Set(receipts.map(\.record.id)).count, 64, "ids")
            try expectEqual(Set(receipts.map(\.head)).count, 64, "entries")
            for receipt in receipts {
                let found = try await stores[0].record(receipt.record.id)
                try expectEqual(found.alert.title, receipt.record.alert.title, "title")
            }
            try expectEqual(try await stores[1].pendingCount(), 64, "what waits")
            try await stores[0].expectSound()
        },
        StoreCheck("A source with too many waiting alerts is refused, and no other source is") {
            queue in
            let store = try await queue.open()
            for number in 1...3 { try await store.ask(.yesNo(key: "\(number)"), limit: 3) }
            let error = try await expectError("tooManyPending") {
                try await store.ask(limit: 3)
            }
            try expectEqual(error, .tooManyPending(source: "test", limit: 3), "the error")
            try expectEqual(try await store.pendingCount(), 3, "what waits")
            try expectEqual(try await store.kinds().count, 3, "entries")
            let again = try await store.ask(.yesNo(key: "2"), limit: 3)
            try expect(!again.isNew, "asking again stores nothing new")
            try await store.ask(source: "other", limit: 3)
            try await store.ask(limit: 3, by: .eve)
            try await store.answer(1)
            try await store.ask(limit: 3)
            try await expectError("tooManyPending") { try await store.ask(limit: 3) }
        },
        StoreCheck("An account's limit counts all of its sources, and no other account's") {
            queue in
            let store = try await queue.open()
            for number in 1...3 { try await store.ask(source: "\(number)", principalLimit: 3) }
            let error = try await expectError("tooManyPendingOfPrincipal") {
                try await store.ask(source: "4", principalLimit: 3)
            }
            try expectEqual(
                error, .tooManyPendingOfPrincipal(.account(Account(uid: 1000)), limit: 3),
                "the error")
            try await store.ask(source: "4", principalLimit: 3, by: .eve)
            try await store.answer(2)
            try await store.ask(source: "4", principalLimit: 3)
            try await store.expectSound()
        },
        StoreCheck("A deadline in the past, or more than 100 years away, is refused") { queue in
            let store = try await queue.open()
            let now = queue.clock.now().wallMilliseconds
            let century = Alert.Limit.duration.milliseconds
            for offset in [0, -1, -century, century + 1] {
                let date = Timestamp.date(milliseconds: now + offset)
                try await expectError("invalid") {
                    try await store.ask(.yesNo(deadline: .at(date)))
                }
            }
            for seconds in [-.infinity, 1e300, .infinity, .nan] {
                try await expectError("invalid") {
                    try await store.ask(
                        .yesNo(deadline: .at(Date(timeIntervalSince1970: seconds))))
                }
            }
            try expectEqual(try await store.kinds(), [], "entries")
            let farthest = Timestamp.date(milliseconds: now + century)
            let asked = try await store.ask(.yesNo(deadline: .at(farthest)))
            try expectEqual(asked.record.expiresAt, farthest, "the farthest deadline")
            try expect(asked.record.followsWallClock, "a date follows the wall clock")
        },
    ]

    static let keys = [
        StoreCheck("Asking with the same key joins the waiting alert, or gets its response") {
            queue in
            let store = try await queue.open()
            let first = try await store.ask(keyed)
            let second = try await store.ask(keyed, by: .ana)
            try expect(first.isNew && !second.isNew, "only the first is new")
            try expectEqual(second.record.id, first.record.id, "the alert")
            try expectEqual(second.timeLeft, first.timeLeft, "the deadline")
            try expectEqual(second.record.source, first.record.source, "the source")
            try await store.answer(first.record.id)
            let third = try await store.ask(keyed)
            try expectEqual(third.record.response?.button?.id, "Yes", "the response")
            try expect(third.head.sequence >= 2, "the position is after the response")
            try expectEqual(try await store.kinds(), [.asked, .resolved], "entries")
        },
        StoreCheck("Another question under a known key is a conflict, and stores nothing") {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(keyed).record.id
            for isEnded in [false, true] {
                if isEnded { try await store.answer(id) }
                for (part, change) in conflicts {
                    var other = keyed
                    change(&other)
                    let error = try await expectError("keyConflict") { try await store.ask(other) }
                    try expectEqual(error, .keyConflict("k", id, part: part), "the error")
                }
            }
            try expectEqual(try await store.kinds(), [.asked, .resolved], "entries")
        },
        StoreCheck("An alert keeps the first asker's timers, priority, handler and presenters") {
            queue in
            let store = try await queue.open()
            let first = try await store.ask(keyed)
            var other = keyed
            other.priority = .critical
            other.deadline = .after(.seconds(5))
            other.snooze = .seconds(5)
            other.handler = "h"
            other.presenters = ["web"]
            let second = try await store.ask(other)
            try expect(!second.isNew, "it is not a conflict")
            try expectEqual(second.timeLeft, first.timeLeft, "the deadline")
            let alert = try await store.record(first.record.id).alert
            try expectEqual(alert.priority, .normal, "priority")
            try expect(
                alert.handler == nil && alert.presenters == nil && alert.snooze == nil,
                "nothing from the second asker is kept")
        },
        StoreCheck("A key belongs to one source of one account, and is compared byte by byte") {
            queue in
            let store = try await queue.open()
            var ids = [try await store.ask(keyed).record.id]
            ids.append(try await store.ask(keyed, source: "other").record.id)
            ids.append(try await store.ask(keyed, by: .eve).record.id)
            var composed = keyed
            // Two encodings of é, which Swift considers equal.
            for key in ["caf\u{e9}", "cafe\u{301}"] {
                composed.key = key
                ids.append(try await store.ask(composed).record.id)
                ids.append(try await store.ask(keyed, source: key).record.id)
            }
            try expectEqual(Set(ids).count, 7, "alerts")
            let found = try await store.find(
                .key("cafe\u{301}", source: "test", of: .account(Account(uid: 1000))))
            try expectEqual(found.record.id, ids[5], "the alert of the second encoding")
            for reference in [
                AlertReference.key("k", source: "third", of: .account(Account(uid: 1000))),
                .key("k", source: "test", of: .account(Account(uid: 3000))),
                .key("K", source: "test", of: .account(Account(uid: 1000))),
            ] {
                try await expectError("keyNotFound") { try await store.find(reference) }
            }
        },
        StoreCheck("Of 64 simultaneous asks with one key, exactly one is new") { queue in
            let stores = [try await queue.open(), try await queue.open()]
            let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
                for number in 0..<64 { group.addTask { try await stores[number % 2].ask(keyed) } }
                return try await group.reduce(into: [Receipt]()) { $0.append($1) }
            }
            try expectEqual(receipts.count(where: \.isNew), 1, "new ones")
            try expectEqual(Set(receipts.map(\.record.id)).count, 1, "alerts")
            try expectEqual(try await stores[0].pendingCount(), 1, "what waits")
        },
        StoreCheck("Asking again after the deadline stores and returns the expiry") { queue in
            let store = try await queue.open()
            let first = try await store.ask(keyed)
            queue.clock.advance(by: .seconds(60))
            let again = try await store.ask(keyed)
            try expectEqual(again.record.id, first.record.id, "the alert")
            try expectEqual(again.record.response?.outcome, .expired, "the outcome")
            try expectEqual(again.record.response?.button?.id, "No", "the default")
            try expectEqual(try await store.kinds(), [.asked, .resolved], "entries")
        },
    ]

    private static let keyed = Alert(
        "Apply?", message: "14 updates", buttons: ["Yes", .cancel("No")],
        deadline: .after(.seconds(60)), defaultButton: "No", key: "k", userInfo: ["a": "1"])

    private static let conflicts: [(part: String, @Sendable (inout Alert) -> Void)] = [
        ("title", { $0.title = "Apply" }),
        ("message", { $0.message = nil }),
        ("style", { $0.style = .actionSheet }),
        ("set of buttons", { $0.buttons[0] = .init("Yes!", id: "Yes") }),
        ("set of buttons", { $0.buttons[0] = .init("Yes", id: "y") }),
        ("set of buttons", { $0.buttons[0] = .destructive("Yes") }),
        ("set of buttons", { $0.buttons.reverse() }),
        ("set of buttons", { $0.buttons.append("Maybe") }),
        ("default button", { $0.defaultButton = "Yes" }),
        ("default button", { $0.defaultButton = nil }),
        ("info", { $0.userInfo = ["a": "2"] }),
        ("info", { $0.userInfo = [:] }),
    ]
}
