import AlertCore
import TextFormats

extension StoreContract {
    static let replacing = [
        StoreCheck("A question takes the key and the place of the one that waits under it") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let first = try await store.ask(.yesNo("12 updates?", key: "k"), by: .ana)
            let second = try await other.replace(.yesNo("14 updates?", key: "k"))
            let (old, new) = (first.record.id, second.record.id)
            try expect(second.isNew && new > old, "a new alert is asked")
            let ended = try await store.record(old)
            try expectEqual(ended.response?.outcome, .withdrawn, "the outcome")
            try expectEqual(ended.response?.by, .asker, "who ended it")
            try expectEqual(ended.response?.supersededBy, new, "its successor")
            try expectEqual(ended.response?.responder, Caller.ben.recorded, "the responder")
            try expectEqual(
                try await store.kinds(), [.asked, .resolved, .superseded, .asked], "entries")
            let key = AlertReference.key("k", source: "test", of: .account(Account(uid: 1000)))
            try expectEqual(try await store.find(key).record.id, new, "the alert with the key")
            try expectEqual(try await store.pendingCount(), 1, "what waits")
            try expectEqual(try await store.nextID("x"), new, "what is shown next")
            try await store.answer(new)
            let history = try await other.history(HistoryFilter(key: "k"), limit: 9)
            try expectEqual(history.map(\.id), [new, old], "the history of the key")
            try await other.expectSound()
        },
        StoreCheck("The same question is joined, and is not replaced by itself") { queue in
            let store = try await queue.open()
            let first = try await store.ask(.yesNo(key: "k"))
            var again = Alert.yesNo(priority: .critical, key: "k")
            again.deadline = .after(.seconds(5))
            let second = try await store.replace(again)
            try expect(!second.isNew, "nothing is asked")
            try expectEqual(second.record, first.record, "the alert")
            try expectEqual(try await store.kinds(), [.asked], "entries")
        },
        StoreCheck("A question without the right to replace is a conflict, as with other accounts")
        {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(key: "k")).record.id
            let other = Alert.yesNo("Another?", key: "k")
            try await expectError("keyConflict") { try await store.ask(other) }
            // Their keys are their own.
            try expect(try await store.replace(other, by: .eve).isNew, "eve's is new")
            try expect(
                try await store.replace(other, source: "another").isNew, "another source's is new")
            try expect(try await store.record(id).response == nil, "the alert waits")
        },
        StoreCheck("An answer keeps its question's place until it has been collected") { queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(key: "k")).record.id
            let answered = try require(try await store.answer(id).response, "response")
            let other = Alert.yesNo("Another?", key: "k")
            let late = try await expectError("alreadyResolved") { try await store.replace(other) }
            try expectEqual(late, .alreadyResolved(answered), "the error")
            try await store.collect(id, by: .ben)
            let again = try await store.replace(.yesNo(key: "k"))
            try expectEqual(again.record.response?.button?.id, "Yes", "its own response")
            try expectEqual(try await store.kinds(), [.asked, .resolved, .collected], "entries")
            let new = try await store.replace(other)
            try expect(new.isNew, "the other question is asked")
            let old = try require(try await store.record(id).response, "response")
            try expectEqual(old.supersededBy, new.record.id, "its successor")
            try expectEqual(old.outcome, .answered, "its outcome")
            try expectEqual(
                try await store.kinds(), [.asked, .resolved, .collected, .superseded, .asked],
                "entries")
            try await store.expectSound()
        },
        StoreCheck("A question that ended without an answer is asked again") { queue in
            let store = try await queue.open()
            var last = try await store.ask(.yesNo(deadline: .after(.seconds(60)), key: "k")).record
                .id
            for end in ["expired", "due", "withdrawn", "cancelled", "another"] {
                switch end {
                case "withdrawn": _ = try await store.resolve(last, .withdraw(), by: .ben)
                case "cancelled":
                    _ = try await store.resolve(last, .cancel(handled: false), by: .ben)
                default:
                    queue.clock.advance(by: .seconds(60))
                    if end == "expired" { _ = try await store.expired(last) }
                }
                let title = end == "another" ? "Another?" : "Go on?"
                let new = try await store.replace(
                    .yesNo(title, deadline: .after(.seconds(60)), key: "k"))
                try expect(new.isNew, end)
                let old = try require(try await store.record(last).response, "response")
                try expectEqual(old.supersededBy, new.record.id, "\(end): its successor")
                try expect(old.outcome != .answered, end)
                last = new.record.id
            }
            try expectEqual(try await store.pendingCount(), 1, "what waits")
            try await store.expectSound()
        },
        StoreCheck("A default that was applied is an answer, also if that is not stored yet") {
            queue in
            let store = try await queue.open()
            var alert = Alert.yesNo(deadline: .after(.seconds(60)), key: "k")
            alert.defaultButton = "No"
            let id = try await store.ask(alert).record.id
            queue.clock.advance(by: .seconds(60))
            for _ in 1...2 {
                let late = try await expectError("alreadyResolved") {
                    try await store.replace(.yesNo("Another?", key: "k"))
                }
                try expectEqual(late.response?.buttonIndex, 1, "the default")
                try expectEqual(late.response?.alertID, id, "the alert")
                _ = try await store.expired(id)
            }
            try expect(try await !store.replace(alert).isNew, "the same question is joined")
        },
        StoreCheck("A question whose answer is stale is asked again") { queue in
            let store = try await queue.open()
            var alert = Alert.yesNo(key: "k")
            alert.validFor = .seconds(60)
            let first = try await store.ask(alert).record.id
            try await store.answer(first)
            try expect(try await !store.replace(alert).isNew, "while it is valid, it is joined")
            queue.clock.advance(by: .seconds(60))
            let second = try await store.replace(alert).record.id
            try expect(second > first, "it is asked again")
            try await store.answer(second)
            try await store.collect(second, by: .ben)
            queue.clock.advance(by: .seconds(60))
            try expect(try await store.replace(alert).isNew, "also after it was collected")
            try await store.expectSound()
        },
        StoreCheck("A late answer to a superseded alert names the one that took its place") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let old = try await store.ask(.yesNo(key: "k")).record.id
            let new = try await store.replace(.yesNo("Another?", key: "k")).record.id
            let ended = try require(try await store.record(old).response, "response")
            for resolution in [Resolution.choose(button: 0), .withdraw()] {
                let error = try await expectError("alreadyResolved") {
                    try await other.resolve(old, resolution, by: .ana)
                }
                try expectEqual(error, .alreadyResolved(ended), "the error")
            }
            try expectEqual(ended.supersededBy, new, "the winner")
            try expect(try await store.record(new).response == nil, "the new one waits")
        },
        StoreCheck("Of an answer and a replacement at the same time, the first one wins") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            for round in 1...16 {
                let key = "\(round)"
                let old = try await store.ask(.yesNo(key: key)).record.id
                async let answer = result(of: old, on: store)
                let replaced: Result<Receipt, AlertError>
                do throws(AlertError) {
                    replaced = .success(try await other.replace(.yesNo("Another?", key: key)))
                } catch {
                    replaced = .failure(error)
                }
                let answered = await answer
                let ended = try require(try await other.record(old).response, "response")
                switch replaced {
                case .success(let receipt):
                    try expectEqual(ended.supersededBy, receipt.record.id, "successor")
                    try expectEqual(answered, .failure(.alreadyResolved(ended)), "the answer")
                case .failure(let error):
                    try expectEqual(ended.outcome, .answered, "outcome")
                    try expectEqual(error, .alreadyResolved(ended), "the error")
                }
            }
            try await store.expectSound()
        },
        StoreCheck("Of 32 replacements at the same time, each supersedes the one before") { queue in
            let stores = [try await queue.open(), try await queue.open()]
            let first = try await stores[0].ask(.yesNo(key: "k")).record.id
            let ids = try await withThrowingTaskGroup(of: Alert.ID.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        try await stores[number % 2].replace(.yesNo("\(number)", key: "k")).record
                            .id
                    }
                }
                return try await group.reduce(into: [first]) { $0.append($1) }.sorted()
            }
            try expectEqual(Set(ids).count, 33, "alerts")
            for (id, next) in zip(ids, ids.dropFirst()) {
                try expectEqual(
                    try await stores[0].record(id).response?.supersededBy, next, "successor")
            }
            try expectEqual(try await stores[1].pendingCount(), 1, "what waits")
            try await stores[1].expectSound()
        },
        StoreCheck("A replacement that is repeated is made once") { queue in
            let store = try await queue.open()
            try await store.ask(.yesNo(key: "k"))
            let change = Change.ask(
                Question(alert: .yesNo("Another?", key: "k"), source: "test", join: .replacing))
            let request = IdempotencyKey()
            for _ in 1...2 {
                let results = try await store.commit(
                    [change], request: request, by: .ben, under: nil)
                let receipt = try require(results.first, "result").get()
                try expect(receipt.isNew, "it has taken effect")
                try expectEqual(receipt.record.id, 2, "the alert")
            }
            try expect(try await !store.commit(change, by: .ben).isNew, "without its name it joins")
            try expectEqual(
                try await store.kinds(), [.asked, .resolved, .superseded, .asked], "entries")
        },
        StoreCheck("A replacement that is refused leaves the other question as it is") { queue in
            let store = try await queue.open()
            let asked = try await store.ask(.yesNo(key: "k")).record
            let past = Timestamp.date(
                milliseconds: queue.clock.now().wallMilliseconds - 1)
            try await expectError("invalid") {
                try await store.replace(.yesNo("Another?", deadline: .at(past), key: "k"))
            }
            try await store.ask(.yesNo(key: "l"))
            for limits in [(1, 100), (100, 1)] {
                try await expectError(
                    limits.0 == 1 ? "tooManyPending" : "tooManyPendingOfPrincipal"
                ) {
                    try await store.replace(
                        .yesNo("Another?", key: "k"), limit: limits.0, principalLimit: limits.1)
                }
            }
            try expectEqual(try await store.record(asked.id), asked, "the alert")
            try expectEqual(try await store.kinds(), [.asked, .asked], "entries")
            // What it takes back no longer counts.
            try await store.replace(.yesNo("Another?", key: "k"), limit: 2, principalLimit: 2)
            try expectEqual(try await store.pendingCount(), 2, "what waits")
        },
        StoreCheck("A snoozed question is replaced, too, and other processes hear of it") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let old = try await store.ask(.yesNo(key: "k")).record.id
            _ = try await store.snooze(old, for: .seconds(60), by: .ana)
            let position = LogPosition(try require(try await store.auditHead(), "head"))
            let new = try await store.replace(.yesNo("Another?", key: "k")).record.id
            for (store, scope) in [(other, News.Scope.everybody), (store, .others)] {
                let events = try await store.news(after: position, of: scope).events
                try expect(
                    events.contains { $0.kind == .resolved && $0.alertID == old },
                    "the end of the old alert is news")
            }
            try expectEqual(try await other.nextID("x"), new, "what is shown next")
            try await store.expectSound()
        },
    ]

    /// What comes of an answer to an alert.
    private static func result(
        of id: Alert.ID, on store: any AlertStore
    ) async -> Result<AlertRecord, AlertError> {
        do throws(AlertError) { return .success(try await store.answer(id)) } catch {
            return .failure(error)
        }
    }
}

extension AlertStore {
    /// Asks a question in the place of the one that waits under its key.
    @discardableResult
    fileprivate nonisolated(nonsending) func replace(
        _ alert: Alert, source: String = "test", limit: Int = 10_000, principalLimit: Int = 100_000,
        by caller: Caller = .ben
    ) async throws(AlertError) -> Receipt {
        try await enqueue(
            Question(
                alert: alert, source: source, join: .replacing, pendingLimit: limit,
                principalLimit: principalLimit), by: caller)
    }
}
