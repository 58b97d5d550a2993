import AlertCore

extension StoreContract {
    static let news = [
        StoreCheck("A store's change is news for other stores, but not for itself") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            var id: Alert.ID = 0
            var own = News(events: [], position: store.position, hasChanged: false)
            // A store that was opened again in between no longer knows its own changes.
            for _ in 1...3 {
                let (mine, its) = (await settled(store), await settled(other))
                id = try await store.ask().record.id
                let heard = try await hear(1, on: other, after: its, of: .others)
                try expectEqual(heard.map(\.alertID), [id], "what the other one hears")
                try expectEqual(heard.map(\.title), ["Go on?"], "its title")
                own = try await store.news(after: mine, of: .others)
                if own.events.isEmpty { break }
            }
            try expect(own.events.isEmpty, "its own ask is not news: \(own.events)")
            try await other.answer(id)
            let answer = try await hear(1, on: store, after: own.position, of: .others)
            try expectEqual(answer.last?.kind, .resolved, "what the first one hears")
            try expectEqual(answer.last?.outcome, .answered, "its outcome")
        },
        StoreCheck("News of everybody contains every event once, in order") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            for number in 0..<300 {
                try await (number % 2 == 0 ? store : other).ask(.yesNo("\(number)"))
            }
            let events = try await hear(
                300, on: store, after: LogPosition(.start), of: .everybody)
            try expectEqual(events.map(\.sequence), Array(1...300), "events")
            let rest = try await hear(
                12, on: other, after: LogPosition(events[287].cursor), of: .everybody)
            try expectEqual(rest.map(\.sequence), Array(289...300), "the last events")
        },
        StoreCheck("A caller that waits for news receives a commit by another store") { queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            for scope in [News.Scope.others, .everybody] {
                var position = await settled(store)
                for _ in 1...5 {
                    let start = position
                    async let waiting = hear(1, on: store, after: start, of: scope)
                    let id = try await other.ask().record.id
                    let heard = try await waiting
                    try expect(heard.contains { $0.alertID == id }, "it hears of alert \(id)")
                    position = LogPosition(
                        try require(heard.last, "event").cursor, mark: store.position.mark)
                }
            }
        },
        StoreCheck("Waiting for news returns within seconds even if nothing happens") { queue in
            let store = try await queue.open()
            try await store.ask()
            let position = await settled(store)
            let start = ContinuousClock.now
            var news = try await store.news(after: position, of: .everybody)
            // A service that was killed since knows no longer what had changed before.
            if news.hasChanged {
                news = try await store.news(after: news.position, of: .everybody)
            }
            try expect(news.events.isEmpty && !news.hasChanged, "nothing has happened")
            try expectEqual(news.position.head.sequence, 1, "the position")
            try expect(start.duration(to: .now) < .seconds(20), "it does not take long")
        },
        StoreCheck("A position of a store that was closed can be continued by another one") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            let position = await settled(store)
            await store.close()
            try await other.answer(id)
            let news = try await queue.open().news(after: position, of: .others)
            try expect(news.hasChanged, "something has changed")
            try expectEqual(news.events.map(\.kind), [.resolved], "events")
        },
        StoreCheck("News after an entry that the log doesn't have is an error") { queue in
            let store = try await queue.open()
            try await store.ask()
            for head in try await unknown(to: store) {
                for scope in [News.Scope.others, .everybody] {
                    let error = try await expectError("unknownCursor") {
                        try await store.news(after: LogPosition(head), of: scope)
                    }
                    try expectEqual(error, .unknownCursor(head, end: 1), "the error")
                }
            }
        },
        StoreCheck("An expiry is news even for the store that stores it") { queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            let position = await settled(store)
            queue.clock.advance(by: .seconds(60))
            let heard = try await hear(1, on: store, after: position, of: .others)
            try expectEqual(heard.map(\.alertID), [id], "what it hears")
            try expectEqual(heard.map(\.outcome), [.expired], "its outcome")
        },
        StoreCheck("Every store notices the end of a snooze, as a change without an event") {
            queue in
            let (store, other) = (try await queue.open(), try await queue.open())
            let id = try await store.ask().record.id
            _ = try await store.snooze(id, for: .seconds(60), by: .ana)
            for scope in [News.Scope.others, .everybody] {
                let positions = [await settled(store, scope), await settled(other, scope)]
                queue.clock.advance(by: .seconds(60))
                for (one, position) in zip([store, other], positions) {
                    var position = position
                    try await expectSoon("it hears that something has changed") {
                        let news = try await one.news(after: position, of: scope)
                        position = news.position
                        return news.hasChanged && news.events.isEmpty
                    }
                }
                try await store.answer(try await store.ask().record.id)
                _ = try await store.snooze(id, for: .seconds(60), by: .ana)
            }
        },
        StoreCheck("Closing a store makes a wait for its news throw") { queue in
            let store = try await queue.open()
            async let error = expectError("closed") {
                var position = store.position
                let limit = ContinuousClock.now + ContractPatience.limit
                while ContinuousClock.now < limit {
                    position = try await store.news(after: position, of: .everybody).position
                }
                return position
            }
            await store.close()
            _ = try await error
        },
    ]

    static let trouble = [
        StoreCheck("The news say why expiries can't be stored, for as long as that lasts") {
            queue in
            let store = try await queue.open()
            let id = try await store.ask(.yesNo(deadline: .after(.seconds(60)))).record.id
            var news = try await store.news(after: store.position, of: .everybody)
            try expect(news.cannotExpire == nil, "nothing is due")
            let start = queue.clock.now().wallMilliseconds
            // A time that the log can't hold, also a minute later.
            queue.clock.setWall(milliseconds: -3600_000)
            queue.clock.advance(by: .seconds(60))
            try await expectSoon("the news say why", atMost: .seconds(10)) {
                news = try await store.news(after: news.position, of: .everybody)
                return news.cannotExpire != nil
            }
            try expectEqual(news.cannotExpire?.kind, "invalid", "the reason")
            queue.clock.setWall(milliseconds: start)
            try await expectSoon("the news say that it is over") {
                news = try await store.news(after: news.position, of: .everybody)
                return news.cannotExpire == nil
            }
            try expectEqual(try await store.record(id).isStored, true, "whether it is stored")
        }
    ]

    /// Entries that the log of a store doesn't have, although it has one of the same number.
    static func unknown(to store: any AlertStore) async throws -> [AuditHead] {
        let head = try require(try await store.auditHead(), "head")
        return [
            AuditHead(sequence: head.sequence, hash: AuditHead.start.hash),
            AuditHead(sequence: head.sequence + 1, hash: head.hash),
            AuditHead(sequence: 0, hash: head.hash), AuditHead(sequence: -1, hash: head.hash),
        ]
    }

    /// The position of a store once it knows of everything that is stored.
    private static func settled(
        _ store: any AlertStore, _ scope: News.Scope = .everybody
    ) async -> LogPosition {
        var position = store.position
        let head = (try? await store.auditHead())?.sequence ?? 0
        for _ in 1...100 {
            guard let news = try? await store.news(after: position, of: scope) else { break }
            position = news.position
            if news.events.isEmpty, !news.hasChanged, position.head.sequence >= head { break }
        }
        return position
    }

    /// The next events, at least `count` of them.
    private static func hear(
        _ count: Int, on store: any AlertStore, after position: LogPosition, of scope: News.Scope
    ) async throws -> [AlertEvent] {
        var (position, events) = (position, [AlertEvent]())
        try await expectSoon("\(count) events are heard; there were \(events.count)") {
            let news = try await store.news(after: position, of: scope)
            position = news.position
            events += news.events
            return events.count >= count
        }
        return events
    }
}
