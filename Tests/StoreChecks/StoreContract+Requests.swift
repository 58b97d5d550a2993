import AlertCore

extension StoreContract {
    static let requests = [
        StoreCheck("A change with a name takes effect once, and its receipt is found again") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let answered = try await store.ask().record.id
            try await store.answer(answered)
            let collected = try await store.ask().record.id
            try await store.answer(collected)
            let waiting = try await store.ask().record.id
            let changes: [Change] = [
                .ask(Question(alert: .yesNo("Again?"), source: "test")),
                .ask(Question(alert: .yesNo(key: "k"), source: "test")),
                .snooze(waiting, until: .after(.seconds(60))),
                .requestCancel(waiting, .own(.program)),
                .resolve(waiting, .choose(button: 0)),
                .collect(collected),
                .run(answered, .started(allowsDefault: false)),
                .run(answered, .exited(status: 3)),
            ]
            for change in changes {
                let request = IdempotencyKey()
                let first = try await commit(change, request, on: store)
                try expect(first.isNew, "it takes effect: \(change)")
                let end = try await store.auditHead()
                for store in [store, other] {
                    let again = try await commit(change, request, on: store)
                    try expect(again.isNew, "it is found again: \(change)")
                    try expectEqual(again.record.id, first.record.id, "the alert")
                    if case .requestCancel = change {
                        try expect(again.isCancelRequested, "the cancel is still requested")
                    }
                    try expectEqual(again.head, first.head, "the newest entry then")
                    try expectEqual(
                        again.record.response?.button, first.record.response?.button, "the end")
                }
                try expectEqual(try await store.auditHead(), end, "the end of the log")
            }
            try await store.expectSound()
        },
        StoreCheck("A name belongs to one account, and to one position of a call") { queue in
            let store = try await queue.open()
            let request = IdempotencyKey()
            let ask = Change.ask(Question(alert: .yesNo(), source: "test"))
            let first = try await store.commit(
                [ask, ask], request: request, by: .ana, under: nil)
            let ids = try first.map { try $0.get().record.id }
            try expectEqual(ids, [1, 2], "two changes of one call")
            try expectEqual(
                try await commit(ask, request, by: .eve, on: store).record.id, 3,
                "another account's")
            let again = try await store.commit(
                [ask, ask, ask], request: request, by: .ana, under: nil)
            try expectEqual(try again.map { try $0.get().record.id }, [1, 2, 4], "a longer call")
        },
        StoreCheck("A change that was refused is tried again under the same name") { queue in
            let store = try await queue.open()
            let request = IdempotencyKey()
            try await expectError("notFound") {
                try await commit(.resolve(1, .choose(button: 0)), request, on: store)
            }
            try await store.ask()
            let answered = try await commit(.resolve(1, .choose(button: 0)), request, on: store)
            try expectEqual(answered.record.response?.button?.id, "Yes", "the answer")
        },
        StoreCheck("A name is kept for a day") { queue in
            let store = try await queue.open()
            let request = IdempotencyKey()
            let ask = Change.ask(Question(alert: .yesNo(), source: "test"))
            for (seconds, id) in [(0, 1), (86_000, 1), (1000, 2)] as [(Int, Alert.ID)] {
                queue.clock.advance(by: .seconds(seconds))
                try expectEqual(
                    try await commit(ask, request, on: store).record.id, id, "the alert")
            }
        },
    ]

    private static func commit(
        _ change: Change, _ request: IdempotencyKey, by caller: Caller = .ben,
        on store: any AlertStore
    ) async throws -> Receipt {
        let results = try await store.commit(
            [change], request: request, by: caller, under: nil)
        return try require(results.first, "result").get()
    }
}
