import AlertCore

extension StoreContract {
    static let screens = [
        StoreCheck("One screen leads, and another one when it steps back, detaches or closes") {
            queue in
            let stores = [try await queue.open(), try await queue.open(), try await queue.open()]
            var leases: [any ScreenLease] = []
            for (number, store) in stores.enumerated() {
                leases.append(try await store.attach(screen("s\(number)")))
            }
            try expect(await stores[0].screens().leader == nil, "nobody leads")
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
            try expect(await !leases[1].lead(), "a released screen never leads")
            await stores[2].close()
            leases.removeLast()
            try await expectLead(leases[0])
        },
        StoreCheck("Of many screens that try to lead at once, exactly one does") { queue in
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
        StoreCheck("The 65th screen is refused until another one detaches") { queue in
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
        StoreCheck("Every store sees the screens, what each shows, and which alert is current") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            let follower = try await other.attach(screen("web"))
            let lease = try await store.attach(screen("terminal"))
            try expect(await lease.lead(), "it leads")
            let leader = { await other.screens().leader }
            try expectEqual(await leader()?.presenters, ["terminal"], "the screen that leads")
            try expectEqual(follower.others?.leader?.presenters, ["terminal"], "to the other one")
            try expect(lease.others?.leader == nil, "no other one leads")
            try await expectSoon("it sees the other one") {
                lease.others?.followers.map(\.presenters) == [["web"]]
            }
            try expect(
                await lease.show(nil, current: id, hasDelegate: false), "it names an alert")
            try expectEqual(await other.screens().current, id, "the current alert")
            try expect(await !other.screens().shows(id), "which is on no screen")
            try expectEqual(try await store.record(id).state, .queued, "and waits")
            try expect(
                await follower.show(id, current: 99, hasDelegate: true), "a follower shows it")
            try expectEqual(await store.screens().current, id, "the leader's word counts")
            try expect(await store.screens().hasDelegate(for: id), "it has a delegate")
            for store in [store, other] {
                try expectEqual(try await store.record(id).state, .presented, "the state")
                try expectEqual(
                    try await store.pending(limit: 9).map(\.state), [.presented], "in the list")
            }
            lease.release()
            try await expectLead(follower)
            try expectEqual(
                await store.screens().current, id, "the new leader goes on with what it shows")
            try expect(await follower.show(nil, current: nil, hasDelegate: false), "it ends")
            try expectEqual(try await other.record(id).state, .queued, "the state then")
            follower.release()
            try expect(await other.screens().all.isEmpty, "no screen is left")
        },
        StoreCheck("The presenters that screens offer determine what can be shown") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let own = try await store.ask().record.id
            let lease = try await store.attach(screen("web"))
            let asker = AttachedScreen(
                identity: Caller.ana.identity, presenters: ["terminal"], only: own,
                hasDelegate: false)
            let ownLease = try await other.attach(asker)
            try await expectQuery(store, ["web"], [own])
            lease.offer(["desktop", "web"], isBusy: false)
            try await expectQuery(store, ["desktop", "web"], [own])
            _ = await lease.show(own, current: nil, hasDelegate: false)
            try expect(await store.screens().shows(own), "it shows an alert")
            lease.offer(["desktop"], isBusy: true)
            try await expectQuery(store, [], [own])
            try expect(await !store.screens().shows(own), "a busy screen shows nothing")
            let record = try await store.record(own)
            let found = await store.screens().screen(for: record.alert)
            try expectEqual(found?.presenters, ["desktop"], "the screen that will show it")
            ownLease.offer([], isBusy: false)
            try await expectQuery(store, [], [])
            try expect(
                await store.screens().screen(for: record.alert, own)?.presenters == ["desktop"],
                "a screen that offers nothing shows nothing")
            ownLease.release()
            try expect(ownLease.others == nil, "a released screen sees no others")
            lease.offer(["web"], isBusy: false)
            try await expectQuery(store, ["web"], [])
        },
        StoreCheck("A screen is notified when another one attaches, detaches or changes") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let leader = try await store.attach(screen("a"))
            try expect(await leader.lead(), "it leads")
            let follower = try await other.attach(screen("b"))
            try await expectChange(of: leader, "the follower attaches") { $0.followers.count == 1 }
            _ = await leader.show(nil, current: 7, hasDelegate: false)
            try await expectChange(of: follower, "an alert is current") { $0.current == 7 }
            follower.offer(["c"], isBusy: false)
            try await expectChange(of: leader, "another presenter") {
                $0.followers.map(\.presenters) == [["c"]]
            }
            leader.release()
            try await expectChange(of: follower, "the leader detaches") { $0.leader == nil }
            try await expectLead(follower)
        },
        StoreCheck("Only one store at a time has the turn of an alert's handler") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let turn = try require(try await store.claim(7), "turn")
            try expect(try await other.claim(7) == nil, "another one has none")
            try expect(try await store.claim(7) == nil, "nor has it a second one")
            let next = try require(try await other.claim(8), "turn of another alert")
            turn.end()
            let second = try require(try await other.claim(7), "turn that has ended")
            // A second end has no effect.
            turn.end()
            try expect(try await store.claim(7) == nil, "another store has it now")
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
                .requestCancel(id, .own(.program)), .run(id, .started(allowsDefault: true)),
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
            try await expectError("closed") { try await store.claim(id) }
        },
        StoreCheck("Other stores, open or opened later, see what a closed store committed") {
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

    private static func screen(_ presenter: String) -> AttachedScreen {
        AttachedScreen(identity: Caller.ana.identity, presenters: [presenter], hasDelegate: false)
    }

    private static func expectQuery(
        _ store: any AlertStore, _ presenters: [String], _ own: [Alert.ID]
    ) async throws {
        let query = await store.screens().query
        try expectEqual(query.presenters, presenters, "the presenters")
        try expectEqual(query.own, own, "the single alerts")
    }

    private static func expectChange(
        of lease: any ScreenLease, _ what: String, _ isThere: (ScreenRoster) -> Bool
    ) async throws {
        for _ in 1...20 {
            let seen = lease.changeCount
            if let others = lease.others, isThere(others) { return }
            await lease.waitForChange(after: seen)
        }
        try expect(false, what)
    }

    private static func expectLead(_ lease: any ScreenLease) async throws {
        try await expectSoon("the screen leads") { await lease.lead() }
    }
}
