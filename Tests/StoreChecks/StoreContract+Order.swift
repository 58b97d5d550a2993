import AlertCore
import AlertQueueTesting

extension StoreContract {
    static let order = [
        StoreCheck("Alerts are ordered by priority, then by age") { queue in
            let store = try await queue.open()
            for priority in [Alert.Priority.low, .normal, .critical, .high, .critical, .low] {
                try await store.ask(.yesNo(priority: priority))
            }
            let order: [Alert.ID] = [3, 5, 4, 2, 1, 6]
            try expectEqual(try await store.pending(limit: 9).map(\.id), order, "the list")
            try expectEqual(try await store.pending(limit: 2).map(\.id), [3, 5], "its first two")
            for id in order {
                try expectEqual(try await store.nextID("x"), id, "what comes next")
                try await store.answer(id)
            }
            try expectEqual(try await store.nextID("x"), nil, "what comes at the end")
        },
        StoreCheck("For each hour that an alert has waited, it counts one priority higher") {
            queue in
            let store = try await queue.open()
            let steps = [1, 2, 3].map { Alert.Priority(rawValue: $0) ?? .low }
            for (hours, rival) in zip([1, 2, 3, 1000] as [Int64], steps + [.critical]) {
                let low = try await store.ask(.yesNo(priority: .low)).record.id
                queue.clock.advance(by: .seconds(min(hours, 3) * 3600) - .milliseconds(1))
                let urgent = try await store.ask(.yesNo(priority: rival)).record.id
                try expectEqual(try await store.nextID("x"), urgent, "before the hour")
                queue.clock.advance(by: .milliseconds(1))
                try expectEqual(try await store.nextID("x"), low, "after the hour")
                try expectEqual(
                    try await store.pending(limit: 9).map(\.id), [low, urgent], "the list")
                for id in [low, urgent] { try await store.answer(id) }
            }
        },
        StoreCheck("A snoozed alert is not shown, is listed last, and then regains its position") {
            queue in
            let store = try await queue.open()
            for _ in 1...4 { try await store.ask() }
            _ = try await store.snooze(1, for: .seconds(60), by: .ana)
            _ = try await store.snooze(2, for: .seconds(30), by: .ana)
            try expectEqual(try await store.nextID("x"), 3, "what comes next")
            try expectEqual(
                try await store.pending(limit: 9).map(\.id), [3, 4, 2, 1], "the list")
            try expectEqual(try await store.pendingCount(), 4, "how many wait")
            queue.clock.advance(by: .seconds(60))
            try expectEqual(try await store.nextID("x"), 1, "what comes then")
            try expectEqual(
                try await store.pending(limit: 9).map(\.id), [1, 2, 3, 4], "the list then")
        },
        StoreCheck("Alerts for other presenters do not hold up the alerts after them") { queue in
            let store = try await queue.open()
            var forWeb = Alert.yesNo(priority: .critical)
            forWeb.presenters = ["web", "desktop"]
            for _ in 0..<20 { try await store.ask(forWeb) }
            let forAll = try await store.ask(.yesNo(priority: .low)).record.id
            try expectEqual(try await store.nextID("terminal"), forAll, "on the terminal")
            try expectEqual(try await store.nextID("terminal", "desktop"), 1, "on the desktop")
            try expectEqual(try await store.nextID("Web"), forAll, "on another name")
            try expectEqual(try await store.nextID(), nil, "without a presenter")
            var query = ScreenQuery(for: ["other"], own: [1], except: [forAll])
            try expectEqual(try await store.next(query).record?.id, 1, "the asker's own")
            query.own = []
            try expectEqual(try await store.next(query).record?.id, nil, "for others")
            try await store.answer(forAll)
            try expectEqual(try await store.nextID("terminal"), nil, "on the terminal then")
        },
        StoreCheck("A query can ask for given alerts, leave out some, and prefer questions") {
            queue in
            let store = try await queue.open()
            let first = try await store.ask(.yesNo(priority: .critical)).record.id
            let notice = try await store.ask(Alert("Done", priority: .critical)).record.id
            let last = try await store.ask(.yesNo(priority: .low)).record.id
            let next = { (query: ScreenQuery) in try await store.next(query).record?.id }
            try expectEqual(
                try await next(ScreenQuery(for: [], own: [last])), last, "the only one")
            try expectEqual(
                try await next(ScreenQuery(for: [], own: [last], except: [last])), nil,
                "the only one, but not that")
            try expectEqual(try await next(ScreenQuery(for: [], own: [99])), nil, "none")
            try expectEqual(
                try await next(ScreenQuery(for: [], own: [last, notice])), notice,
                "the more urgent one")
            try expectEqual(
                try await next(
                    ScreenQuery(for: [], own: [last, notice], prefersQuestions: true)), last,
                "the question")
            let others = ScreenQuery(for: ["x"], except: [first])
            try expectEqual(try await next(others), notice, "all but the first")
            let questions = ScreenQuery(for: ["x"], except: [first], prefersQuestions: true)
            try expectEqual(try await next(questions), last, "a question")
            _ = try await store.snooze(last, for: nil, by: .ana)
            try expectEqual(try await next(questions), notice, "where there is no question")
            try expectEqual(
                try await next(ScreenQuery(for: [], own: [last])), nil, "a snoozed one")
        },
        StoreCheck("The number of other alerts that could be shown leaves out snoozed ones") {
            queue in
            let store = try await queue.open()
            try await store.ask(.yesNo(priority: .critical))
            try await store.ask(.yesNo(priority: .critical))
            var forWeb = Alert.yesNo()
            forWeb.presenters = ["web"]
            try await store.ask(forWeb)
            for _ in 1...2 { try await store.ask() }
            _ = try await store.snooze(5, for: nil, by: .ana)
            let waiting = try await store.next(ScreenQuery(for: ["x"])).waiting
            try expectEqual(waiting, WaitingAlerts(count: 3, critical: 1), "besides the first")
            try expectEqual(
                try await store.waiting(besides: 3), WaitingAlerts(count: 3, critical: 2),
                "besides the third")
            try expectEqual(
                try await store.waiting(besides: 0), WaitingAlerts(count: 4, critical: 2), "all")
        },
        StoreCheck("The count of waiting alerts includes one for other presenters only") { queue in
            let store = try await queue.open()
            var forWeb = Alert.yesNo()
            forWeb.presenters = ["web"]
            try await store.ask(forWeb)
            try expectEqual(try await store.nextID("terminal"), nil, "on the terminal")
            let id = try await store.ask().record.id
            let next = try await store.next(ScreenQuery(for: ["terminal"]))
            try expectEqual(next.record?.id, id, "what comes next")
            try expectEqual(next.waiting, WaitingAlerts(count: 1), "what else could be shown")
        },
    ]

    static let turns = [
        StoreCheck("The sources of an account take turns, and each keeps its own order") { queue in
            let store = try await queue.open()
            for _ in 1...4 { try await store.ask(source: "flood") }
            for source in ["backup", "deploy", "backup"] { try await store.ask(source: source) }
            try expectEqual(
                try await store.pending(limit: 9).map(\.id), [1, 2, 3, 4, 5, 6, 7], "the list")
            try expectEqual(
                try await showAll(on: store, queue.clock), [1, 5, 6, 2, 7, 3, 4], "what is shown")
            try await store.expectSound()
        },
        StoreCheck("Accounts and persons take turns, and the one shown longest ago comes first") {
            queue in
            let store = try await queue.open()
            for _ in 1...3 { try await store.ask(source: "flood", by: .account(1000)) }
            for _ in 1...2 { try await store.ask(source: "flood", by: .account(1001)) }
            try await store.ask(source: "backup", by: .account(1002))
            for _ in 1...2 { try await store.ask(source: "flood", by: .boss()) }
            try expectEqual(
                try await showAll(on: store, queue.clock), [1, 4, 6, 7, 2, 5, 8, 3],
                "what is shown")
        },
        StoreCheck("An alert shown out of turn does not delay those in line before it") { queue in
            let store = try await queue.open()
            for _ in 0..<5 { try await store.ask(source: "flood") }
            store.post(.presented(try await store.record(5)), by: .ana)
            try await store.answer(5)
            let question = try await store.ask(source: "backup").record.id
            try expectEqual(
                try await showAll(on: store, queue.clock).prefix(2), [1, question], "what is shown")
        },
        StoreCheck("Alerts that are snoozed repeatedly do not keep other sources waiting") {
            queue in
            let store = try await queue.open()
            for _ in 1...2 { try await store.ask(source: "nag") }
            _ = try await store.showNext()
            try await store.ask(source: "nag")
            let question = try await store.ask(source: "backup").record.id
            for turn in 0..<4 {
                let record = try require(
                    try await store.next(ScreenQuery(for: ["x"])).record, "alert to show")
                store.post(.presented(record), by: .ana)
                if record.id == question { return }
                try expect(turn < 3, "the question comes within three turns")
                _ = try await store.snooze(record.id, for: .seconds(1), by: .ana)
                queue.clock.advance(by: .seconds(2))
            }
        },
        StoreCheck("Withdrawing and asking again does not gain a place in line") {
            queue in
            let store = try await queue.open()
            for _ in 0..<3 { try await store.ask(source: "flood") }
            for id in [1, 2] as [Alert.ID] {
                _ = try await store.resolve(id, .withdraw(), by: .ben)
            }
            let again = try await store.ask(source: "flood").record.id
            try expectEqual(try await showAll(on: store, queue.clock), [3, again], "what is shown")
        },
        StoreCheck("An alert that has become as urgent as a flood takes turns with it") {
            queue in
            let store = try await queue.open()
            for number in 0..<3 {
                try await store.ask(.yesNo(priority: .critical), source: "flood-\(number)")
            }
            let low = try await store.ask(.yesNo(priority: .low), source: "backup").record.id
            queue.clock.advance(by: .seconds(3 * 3600))
            for number in 0..<3 {
                try await store.ask(.yesNo(priority: .critical), source: "more-\(number)")
            }
            _ = try await store.showNext()
            try expectEqual(try await store.nextID("x"), low, "what comes after the first")
        },
    ]

    private static func showAll(
        on store: any AlertStore, _ clock: ManualClock
    ) async throws -> [Alert.ID] {
        var shown: [Alert.ID] = []
        while let record = try await store.showNext() { shown.append(record.id) }
        return shown
    }
}
