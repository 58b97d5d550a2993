import AlertCore
import Synchronization

extension StoreContract {
    static let screens = [
        StoreCheck("One screen leads, and another one when it steps back, detaches or closes") {
            queue in
            let stores = [try await queue.open(), try await queue.open(), try await queue.open()]
            var screens: [Screen] = []
            for (number, store) in stores.enumerated() {
                screens.append(try await Screen("s\(number)", on: store))
            }
            try expect(await stores[0].screens().leader == nil, "nobody leads")
            try expect(await screens[0].lead(), "the first one leads")
            try expect(await screens[0].lead(), "it still does")
            try expect(await !screens[1].lead(), "the second one does not")
            try expect(await !screens[0].stepBack(), "it no longer leads")
            try await expectLead(screens[1])
            try expect(await !screens[0].lead(), "the first one follows")
            screens[1].lease.release()
            try await expectLead(screens[0])
            try expect(await !screens[1].lead(), "a released screen never leads")
            try expect(await !screens[2].lead(), "the third one follows")
            await stores[0].close()
            screens.removeFirst()
            try await expectLead(screens[1])
        },
        StoreCheck("Of many screens that try to lead at once, exactly one does") { queue in
            let store = try await queue.open()
            var screens: [Screen] = []
            for number in 0..<16 { screens.append(try await Screen("\(number)", on: store)) }
            let leading = await withTaskGroup(of: Bool.self) { [screens] group in
                for screen in screens { group.addTask { await screen.lead() } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            try expectEqual(leading, 1, "screens that lead")
        },
        StoreCheck("The 65th screen is refused until another one detaches") { queue in
            let store = try await queue.open()
            var screens: [Screen] = []
            for number in 0..<64 { screens.append(try await Screen("\(number)", on: store)) }
            try await expectError("busy") { try await Screen("one more", on: store) }
            try expect(await screens[63].lead(), "the last one leads")
            screens[7].lease.release()
            let next = try await Screen("next", on: store)
            try expect(await !next.lead(), "it follows")
            screens[63].lease.release()
            try await expectLead(next)
        },
        StoreCheck("Every store sees the screens, what each shows, and which alert is current") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            let follower = try await Screen("web", on: other)
            let leader = try await Screen("terminal", on: store)
            try expect(await leader.lead(), "it leads")
            try expectEqual(
                await other.screens().leader?.presenters, ["terminal"], "the screen that leads")
            try await expectState(of: follower, "it sees the leader") {
                $0.others?.leader?.presenters == ["terminal"]
            }
            try await expectState(of: leader, "it sees no other leader, but the other one") {
                $0.others?.leader == nil
                    && $0.others?.followers.map(\.presenters) == [["web"]]
            }
            await leader.show(nil, current: id)
            try expectEqual(await other.screens().current, id, "the current alert")
            try expect(await !other.screens().shows(id), "which is on no screen")
            try expectEqual(try await store.record(id).state, .queued, "and waits")
            await follower.show(id, current: 99, hasDelegate: true)
            try expectEqual(await store.screens().current, id, "the leader's word counts")
            try expect(await store.screens().hasDelegate(for: id), "it has a delegate")
            for store in [store, other] {
                try expectEqual(try await store.record(id).state, .presented, "the state")
                try expectEqual(
                    try await store.pending(limit: 9).map(\.state), [.presented], "in the list")
            }
            leader.lease.release()
            try await expectState(of: leader, "a released screen is lost") { $0 == .lost }
            await follower.show(id, current: nil)
            try await expectLead(follower)
            try expectEqual(
                await store.screens().current, id, "the new leader goes on with what it shows")
            await follower.show(nil, current: nil)
            try expectEqual(try await other.record(id).state, .queued, "the state then")
            follower.lease.release()
            try expect(await other.screens().all.isEmpty, "no screen is left")
        },
        StoreCheck("The presenters that screens offer determine what can be shown") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let own = try await store.ask().record.id
            let screen = try await Screen("web", on: store)
            let asker = try await Screen("terminal", only: own, on: other)
            try await expectQuery(store, ["web"], [own])
            await screen.offer(["desktop", "web"])
            try await expectQuery(store, ["desktop", "web"], [own])
            await screen.show(own, current: nil)
            try expect(await store.screens().shows(own), "it shows an alert")
            await screen.offer(["desktop"], isBusy: true)
            try await expectQuery(store, [], [own])
            try expect(await !store.screens().shows(own), "a busy screen shows nothing")
            let record = try await store.record(own)
            let screens = await store.screens()
            try expect(screens.mayShow(record.alert), "a busy screen will show it")
            try expect(screens.canShow(record.alert, own), "the asker's screen can show it now")
            await asker.offer([])
            try await expectQuery(store, [], [])
            try expect(
                await !store.screens().canShow(record.alert, own),
                "a screen that offers nothing shows nothing")
            try expectEqual(
                await store.screens().all.map(\.presenters).sorted { $0.count < $1.count },
                [[], ["desktop"]], "what the screens offer")
            asker.lease.release()
            await screen.offer(["web"])
            try await expectQuery(store, ["web"], [])
        },
        StoreCheck("A screen is notified when another one attaches, detaches or changes") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let leader = try await Screen("a", on: store)
            try expect(await leader.lead(), "it leads")
            let follower = try await Screen("b", on: other)
            try await expectState(of: leader, "the follower attaches") {
                $0.others?.followers.count == 1
            }
            await leader.show(nil, current: 7)
            try await expectState(of: follower, "an alert is current") { $0.others?.current == 7 }
            await follower.offer(["c"])
            try await expectState(of: leader, "another presenter") {
                $0.others?.followers.map(\.presenters) == [["c"]]
            }
            _ = await follower.lead()
            leader.lease.release()
            try await expectState(of: follower, "it leads as soon as the leader detaches") {
                $0.isLeading && $0.others?.all.isEmpty == true
            }
        },
        StoreCheck("A change under the epoch of a lost attachment is refused") { queue in
            let store = try await queue.open()
            let id = try await store.ask().record.id
            let screen = try await Screen("a", on: store)
            let lost = screen.lease.epoch
            screen.lease.release()
            let next = try await Screen("a", on: store)
            let answer = Change.resolve(id, .choose(button: 0))
            try await expectError("detached") {
                try await store.commit([answer], request: nil, by: .ben, under: lost)
            }
            try expect(try await store.record(id).response == nil, "nothing is stored")
            let results = try await store.commit(
                [answer], request: nil, by: .ben, under: next.lease.epoch)
            try expect(try results[0].get().record.response != nil, "the other one's is")
        },
        StoreCheck("A change on a screen that was lost since is found by its name") { queue in
            let store = try await queue.open()
            let (first, second) = (try await store.ask(), try await store.ask())
            let screen = try await Screen("a", on: store)
            let (epoch, request) = (screen.lease.epoch, IdempotencyKey())
            let answer = Change.resolve(first.record.id, .choose(button: 0))
            let commit = { (change, request) async throws in
                try await store.commit([change], request: request, by: .ben, under: epoch)[0].get()
            }
            try expect(try await commit(answer, request).isNew, "it takes effect")
            screen.lease.release()
            // By then the store knows.
            _ = try await Screen("b", on: store)
            let again = try await commit(answer, request)
            try expectEqual(again.record.response?.button?.id, "Yes", "it is found again")
            let other = Change.resolve(second.record.id, .choose(button: 0))
            try await expectError("detached") { try await commit(other, IdempotencyKey()) }
            try expect(
                try await store.record(second.record.id).response == nil, "nothing is stored")
        },
        StoreCheck("Only one store at a time has the turn of an alert's handler") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let turn = try require(try await store.lease(7), "turn")
            try expect(try await other.lease(7) == nil, "another one has none")
            try expect(try await store.lease(7) == nil, "nor has it a second one")
            let next = try require(try await other.lease(8), "turn of another alert")
            turn.end()
            var second: (any AlertLease)?
            try await expectSoon("a turn has ended") {
                second = try await other.lease(7)
                return second != nil
            }
            // A second end has no effect.
            turn.end()
            try expect(try await store.lease(7) == nil, "another store has it now")
            second?.end()
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
                .ask(Question(alert: .yesNo(), source: "test")), .collect(id),
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
                .awaitingHandler("h"), .awaitingHook(HistoryFilter()),
            ] {
                try await expectError("closed") {
                    try await store.page(RecordQuery(kind, limit: 9))
                }
            }
            try await expectError("closed") {
                try await store.statistics(StatisticsQuery()) { _, _ in }
            }
            try await expectError("closed") { try await store.entries(limit: 9) }
            try await expectError("closed") {
                try await store.news(after: LogPosition(.start), of: .everybody)
            }
            try await expectError("closed") { try await store.verify(expecting: nil) }
            try await expectError("closed") { try await Screen("x", on: store) }
            try await expectError("closed") { try await store.lease(id) }
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
            try expectEqual(later.position.head.sequence, 3, "the position")
            let again = try await later.ask(.yesNo(key: "k"))
            try expect(!again.isNew, "the key is known")
            try await later.expectSound()
        },
    ]

    private static func expectQuery(
        _ store: any AlertStore, _ presenters: [String], _ own: [Alert.ID]
    ) async throws {
        let query = await store.screens().query
        try expectEqual(query.presenters, presenters, "the presenters")
        try expectEqual(query.own, own, "the single alerts")
    }

    private static func expectState(
        of screen: Screen, _ what: String, _ isReached: (LeaseState) -> Bool
    ) async throws {
        var state = LeaseState.lost
        for _ in 1...20 {
            state = await screen.lease.state(after: state)
            if isReached(state) { return }
        }
        try expect(false, what)
    }

    private static func expectLead(_ screen: Screen) async throws {
        try await expectSoon("the screen leads") { await screen.lead() }
    }
}

/// A screen with one lease, as a manager has it.
private final class Screen: Sendable {
    let lease: any ScreenLease
    private let attached: Mutex<(AttachedScreen, wantsLead: Bool)>

    init(_ presenter: String, only: Alert.ID? = nil, on store: any AlertStore) async throws {
        let screen = AttachedScreen(
            caller: Caller.ana, presenters: [presenter], only: only,
            hasDelegate: false)
        lease = try await store.attach(screen)
        attached = Mutex((screen, false))
    }

    @discardableResult
    private func announce(
        _ change: (inout (AttachedScreen, wantsLead: Bool)) -> Void
    ) async -> LeaseState {
        let (screen, wantsLead) = attached.withLock { state in
            change(&state)
            return state
        }
        return await lease.announce(screen, wantsLead: wantsLead)
    }

    /// Tries to lead; returns whether it does.
    func lead() async -> Bool { await announce { $0.wantsLead = true }.isLeading }

    func stepBack() async -> Bool { await announce { $0.wantsLead = false }.isLeading }

    func show(_ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool = false) async {
        await announce { state in
            (state.0.alert, state.0.current) = (alert, current)
            state.0.hasDelegate = hasDelegate
        }
    }

    func offer(_ presenters: [String], isBusy: Bool = false) async {
        await announce { $0.0.offer(presenters, isBusy: isBusy) }
    }
}
