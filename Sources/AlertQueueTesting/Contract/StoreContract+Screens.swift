import AlertCore

extension StoreContract {
    static let screens = [
        StoreCheck("One screen leads, and the next one once that steps back, goes or closes") {
            queue in
            let stores = [try await queue.open(), try await queue.open(), try await queue.open()]
            var leases: [any ScreenLease] = []
            for (number, store) in stores.enumerated() {
                leases.append(try await store.attach(screen("s\(number)")))
            }
            try expect(await stores[0].leadingScreen() == nil, "nobody leads")
            try expect(await leases[0].lead(), "the first one leads")
            try expect(await leases[0].lead(), "it still does")
            try expect(await !leases[1].lead(), "the second one does not")
            try expect(leases[0].isLeading && !leases[1].isLeading, "they say so")
            leases[0].stepBack()
            try expect(!leases[0].isLeading, "it no longer leads")
            try await expectLead(leases[1])
            try expect(await !leases[0].lead(), "the first one follows")
            leases[1].release()
            try await expectLead(leases[2])
            try expect(await !leases[1].lead(), "what is released never leads")
            await stores[2].close()
            leases.removeLast()
            try await expectLead(leases[0])
        },
        StoreCheck("Of many screens that try at once, one leads") { queue in
            let store = try await queue.open()
            var leases: [any ScreenLease] = []
            for number in 0..<16 { leases.append(try await store.attach(screen("\(number)"))) }
            let all = leases
            let leading = await withTaskGroup(of: Bool.self) { group in
                for lease in all { group.addTask { await lease.lead() } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            try expectEqual(leading, 1, "screens that lead")
        },
        StoreCheck("Of 65 screens the last one is refused until another one goes") { queue in
            let store = try await queue.open()
            var leases: [any ScreenLease] = []
            for number in 0..<64 { leases.append(try await store.attach(screen("\(number)"))) }
            try await expectError("busy") { try await store.attach(screen("one more")) }
            try expect(await leases[63].lead(), "the last one leads")
            leases[7].release()
            let next = try await store.attach(screen("next"))
            try expect(await !next.lead(), "it follows")
            leases[63].release()
            try await expectLead(next)
        },
        StoreCheck("Everybody sees who leads, and which alert is on the screen") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            let follower = try await other.attach(screen("web"))
            let lease = try await store.attach(screen("terminal"))
            try expect(await !lease.show(id, hasDelegate: true), "who doesn't lead shows nothing")
            try expect(await lease.lead(), "it leads")
            try expectEqual(
                await other.leadingScreen()?.presenters, ["terminal"], "the screen that leads")
            try expect(await lease.show(id, hasDelegate: true), "it shows the alert")
            let leading = try require(await other.leadingScreen(), "leading screen")
            try expectEqual(leading.alert, id, "the alert on it")
            try expect(leading.hasDelegate && leading.isThere, "it has a delegate, and is there")
            try expect(await !follower.show(id, hasDelegate: false), "a follower shows nothing")
            for store in [store, other] {
                try expectEqual(try await store.record(id).state, .presented, "the state")
                try expectEqual(
                    try await store.pending(limit: 9).map(\.state), [.presented], "in the list")
            }
            try expect(await lease.show(nil, hasDelegate: false), "it shows nothing")
            try expectEqual(try await other.record(id).state, .queued, "the state then")
            lease.release()
            try expect(await other.leadingScreen() == nil, "nobody leads then")
        },
        StoreCheck("A screen that waits to lead goes on when the leader leaves") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let leader = try await store.attach(screen("a"))
            let follower = try await other.attach(screen("b"))
            try expect(await leader.lead(), "it leads")
            async let isLeading = {
                for _ in 1...20 {
                    if await follower.lead() { return true }
                    await follower.waitToLead()
                }
                return false
            }()
            leader.release()
            try expect(await isLeading, "the follower leads")
        },
        StoreCheck("One at a time has the turn of an alert's handler") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let turn = try require(try await store.takeHandlerTurn(7), "turn")
            try expect(try await other.takeHandlerTurn(7) == nil, "another one has none")
            try expect(try await store.takeHandlerTurn(7) == nil, "nor has it a second one")
            let next = try require(try await other.takeHandlerTurn(8), "turn of another alert")
            turn.end()
            let second = try require(try await other.takeHandlerTurn(7), "turn that has ended")
            // What has ended is not ended again.
            turn.end()
            try expect(try await store.takeHandlerTurn(7) == nil, "it is somebody else's now")
            second.end()
            next.end()
        },
    ]

    static let closing = [
        StoreCheck("Every call of a closed store throws") { queue in
            let store = try await queue.open()
            let id = try await store.ask().record.id
            await store.close()
            await store.close()
            let changes: [Change] = [
                .ask(Question(alert: .yesNo(), source: "test")), .expire(id), .collect(id),
                .resolve(id, .withdraw()), .snooze(id, until: nil),
                .requestCancel(id, .own(.program)),
            ]
            for change in changes {
                try await expectError("closed") { try await store.commit(change, by: .ben) }
            }
            try await expectError("closed") { try await store.find(.id(id)) }
            try await expectError("closed") { try await store.next(ScreenQuery(for: ["x"])) }
            try await expectError("closed") { try await store.waiting(besides: 0) }
            try await expectError("closed") { try await store.pendingCount() }
            for kind in [
                RecordQuery.Kind.waiting(source: nil), .history(HistoryFilter()),
                .awaitingHandler("h"), .unclaimed(HistoryFilter()),
            ] {
                try await expectError("closed") {
                    try await store.page(RecordQuery(kind, limit: 9))
                }
            }
            try await expectError("closed") {
                try await store.statistics(StatisticsQuery()) { _, _ in }
            }
            try await expectError("closed") { try await store.entries(after: 0, limit: 9) }
            try await expectError("closed") {
                try await store.news(after: LogPosition(sequence: 0), of: .everybody)
            }
            try await expectError("closed") { try await store.verify(expecting: nil) }
            try await expectError("closed") { try await store.attach(screen("x")) }
            try await expectError("closed") { try await store.takeHandlerTurn(id) }
        },
        StoreCheck("What was committed is there for the stores that go on, and for later ones") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            await store.close()
            try await other.answer(id)
            try await other.ask(.yesNo(key: "k"))
            let later = try await queue.open()
            try expectEqual(try await later.record(id), try await other.record(id), "the record")
            try expectEqual(try await later.kinds(), [.asked, .resolved, .asked], "entries")
            try expectEqual(later.position.sequence, 3, "the position")
            let again = try await later.ask(.yesNo(key: "k"))
            try expect(!again.isNew, "the key is known")
            try await later.expectSound()
        },
    ]

    private static func screen(_ presenter: String) -> SlotHolder {
        SlotHolder(identity: Caller.ana.identity, presenters: [presenter], hasDelegate: false)
    }

    private static func expectLead(_ lease: any ScreenLease) async throws {
        try await expectSoon("the screen leads") { await lease.lead() }
    }
}
