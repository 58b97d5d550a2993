import AlertCore
import AlertQueueTesting

extension StoreContract {
    static let numbered = [
        StoreCheck("A numbered key is joined until its response is taken, and then asked anew") {
            queue in
            let stores = [try await queue.open(), try await queue.open()]
            for number in 1...9 {
                let store = stores[number % 2]
                let asked = try await store.askNumbered()
                try expect(asked.isNew, "it is new")
                try expectEqual(asked.record.alert.key, "k:\(number)", "its key")
                for store in stores {
                    let joined = try await store.askNumbered()
                    try expect(!joined.isNew, "it waits")
                    try expectEqual(joined.record.id, asked.record.id, "the alert that waits")
                }
                try await store.answer(asked.record.id)
                let joined = try await store.askNumbered()
                try expectEqual(joined.record.id, asked.record.id, "the response is there")
                try expect(joined.record.response?.outcome == .answered, "it is joined")
                try expect(joined.unused == nil, "and it is used")
                try await store.collect(asked.record.id, by: .ben)
            }
            let others = try await stores[0].askNumbered(by: .boss())
            try expectEqual(others.record.alert.key, "k:1", "the key of another principal")
            try await stores[0].expectSound()
        },
        StoreCheck("Of 32 simultaneous askings with a numbered key, one is new") { queue in
            let stores = [try await queue.open(), try await queue.open()]
            let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
                for number in 0..<32 {
                    group.addTask { try await stores[number % 2].askNumbered() }
                }
                return try await group.reduce(into: [Receipt]()) { $0.append($1) }
            }
            try expectEqual(Set(receipts.map(\.record.id)).count, 1, "alerts")
            try expectEqual(receipts.count(where: \.isNew), 1, "new ones")
            try await stores[0].expectSound()
        },
        StoreCheck("A response that is not used again is taken with the reason") { queue in
            let store = try await queue.open()
            var alert = Alert.yesNo(key: "k:")
            (alert.deadline, alert.defaultButton) = (.after(.seconds(60)), "Yes")
            alert.validFor = .seconds(3600)
            let hour = Question.Reuse(within: .seconds(600), byDefault: true)
            let ends: [(Question.Reuse, Resolution?, after: Int, EntryReason?, isJoined: Bool)] = [
                (hour, .choose(button: 0), after: 599, nil, isJoined: true),
                (hour, .choose(button: 0), after: 600, .earlier, isJoined: false),
                (hour, .choose(button: 1), after: 3601, .earlier, isJoined: false),
                (
                    Question.Reuse(byDefault: true), .choose(button: 0), after: 3600, .stale,
                    isJoined: false
                ),
                (
                    Question.Reuse(byDefault: true), .choose(button: 1), after: 9999, nil,
                    isJoined: true
                ),
                (
                    Question.Reuse(within: .zero, byDefault: true), .choose(button: 0), after: 0,
                    .earlier, isJoined: false
                ),
                (hour, nil, after: 60, nil, isJoined: true),
                (Question.Reuse(byDefault: false), nil, after: 60, .undecided, isJoined: false),
                (hour, .withdraw(), after: 0, nil, isJoined: false),
                (hour, .cancel(handled: false), after: 0, nil, isJoined: true),
            ]
            for (reuse, end, seconds, reason, isJoined) in ends {
                let asked = try await store.askNumbered(alert, reuse)
                try expect(asked.isNew, "the one before is taken")
                let id = asked.record.id
                if let end { _ = try await store.resolve(id, end, by: .ben) }
                queue.clock.advance(by: .seconds(seconds))
                let again = try await store.askNumbered(alert, reuse)
                try expectEqual(again.isNew, !isJoined, "\(String(describing: end)): it is new")
                try expectEqual(again.record.id == id, isJoined, "the alert")
                // A receipt that is found again, because its reply was lost, has none.
                if let unused = again.unused {
                    try expectEqual(unused.reason, reason, "\(String(describing: end)): why")
                    try expectEqual(unused.record.id, id, "of which alert")
                }
                if let reason {
                    let entry = try require(try await store.entries(of: id, limit: 9).last, "entry")
                    try expectEqual(entry.meaning, .unused(reason), "the reason")
                }
                try await store.endNumbered(again.record.id)
            }
            try await store.expectSound()
        },
        StoreCheck("A question that may only join stores nothing if there is nothing to join") {
            queue in
            let store = try await queue.open()
            let undecided = Question.Reuse(byDefault: false)
            for join in [Question.Join.same, .replacing, .numbered(undecided)] {
                let error = try await expectError("keyNotFound") {
                    try await store.askJoining("k:", join)
                }
                try expectEqual(error, .keyNotFound("k:"), "the key as it was asked")
            }
            try expectEqual(try await store.kinds(), [], "entries")
            let first = try await store.askNumbered()
            let joined = try await store.askJoining("k:", .numbered(undecided))
            try expectEqual(joined.record.id, first.record.id, "it joins what waits")
            try await store.answer(first.record.id)
            let old = Question.Join.numbered(Question.Reuse(within: .zero, byDefault: false))
            let error = try await expectError("keyNotFound") {
                try await store.askJoining("k:", old)
            }
            try expectEqual(error, .keyNotFound("k:"), "the key as it was asked")
            try expectEqual(try await store.kinds(), [.asked, .resolved], "it stays as it is")
            try await store.expectSound()
        },
    ]
}

extension AlertStore {
    /// Asks with a key that begins with `k:`.
    fileprivate nonisolated(nonsending) func askNumbered(
        _ alert: Alert = .yesNo(key: "k:"),
        _ reuse: Question.Reuse = Question.Reuse(byDefault: true),
        by caller: Caller = .ben
    ) async throws(AlertError) -> Receipt {
        try await enqueue(
            Question(alert: alert, source: "test", join: .numbered(reuse)), by: caller)
    }

    fileprivate nonisolated(nonsending) func askJoining(
        _ key: String, _ join: Question.Join
    ) async throws(AlertError) -> Receipt {
        try await enqueue(
            Question(alert: .yesNo(key: key), source: "test", join: join, mayBeNew: false),
            by: .ben)
    }

    /// Ends an alert, if it waits, and takes its response.
    fileprivate nonisolated(nonsending) func endNumbered(_ id: Alert.ID) async throws(AlertError) {
        if try await record(id).response == nil { try await answer(id) }
        try await collect(id, by: .ben)
    }
}
