import AlertCore
import AlertQueueTesting
import FoundationEssentials
import TextFormats

extension StoreContract {
    static let pages = [
        StoreCheck("Pages of waiting alerts of any length have no gaps and no repeats") { queue in
            let store = try await queue.open()
            for number in 0..<30 {
                let priority = Alert.Priority(rawValue: number % 4) ?? .low
                try await store.ask(
                    .yesNo("\(number)", priority: priority), source: "s\(number % 3)")
                if number % 5 == 0 {
                    _ = try await store.snooze(
                        Alert.ID(number + 1), for: .seconds(60 + number % 2), by: .ana)
                }
                queue.clock.advance(by: .seconds(number % 7 == 0 ? 1 : 0))
            }
            for source in [nil, "s1", "nobody"] {
                let all = try await store.pending(source: source, limit: 100).map(\.id)
                try expectEqual(
                    all.count, source == nil ? 30 : source == "s1" ? 10 : 0, "what waits")
                for length in [1, 3, 10, 30] {
                    let pages = try await allPages(
                        RecordQuery(.waiting(source: source), limit: length), on: store)
                    try expectEqual(pages, all, "pages of \(length)")
                }
            }
        },
        StoreCheck("A page of waiting alerts can begin after an alert that has since ended") {
            queue in
            let store = try await queue.open()
            for _ in 0..<5 { try await store.ask() }
            try await store.answer(2)
            try expectEqual(
                try await store.pending(after: 2, limit: 9).map(\.id), [3, 4, 5], "the rest")
        },
        StoreCheck("Responses for a handler come oldest first until they are collected") { queue in
            let store = try await queue.open()
            for handler in ["mine", "mine", "mine", "mine", "other", nil] {
                var alert = Alert.yesNo()
                alert.handler = handler
                try await store.ask(alert)
            }
            for id in [5, 6, 2, 1, 3] as [Alert.ID] { try await store.answer(id) }
            let kind = RecordQuery.Kind.awaitingHandler("mine")
            try expectEqual(
                try await allPages(RecordQuery(kind, limit: 2), on: store), [2, 1, 3], "pages")
            let records = try await store.page(RecordQuery(kind, after: 2, limit: 9)).records
            try expectEqual(records.map(\.id), [1, 3], "what comes after the first")
            try expectEqual(records.first, try await store.record(1), "the record")
            try await store.collect(1, by: .ana)
            try expectEqual(
                try await allPages(RecordQuery(kind, limit: 9), on: store), [2, 3],
                "what nobody has collected")
            let page = try await store.page(RecordQuery(.awaitingHandler("none"), limit: 9))
            try expect(page.records.isEmpty && page.isEnd, "nothing waits for another handler")
        },
        StoreCheck("Responses for a hook come oldest first, on pages without gaps") { queue in
            let store = try await queue.open()
            for number in 0..<12 {
                var alert = Alert.yesNo("\(number)")
                if number % 4 == 3 { alert.handler = "mine" }
                if number == 4 { alert.key = "k" }
                try await store.ask(alert, source: number % 2 == 0 ? "even" : "odd")
            }
            for id in (1...11).reversed() as [Alert.ID] {
                try await store.answer(id, Int(id % 2), by: id == 5 ? .eve : .ana)
            }
            try await store.collect(7, by: .ana)
            let all: [Alert.ID] = [11, 10, 9, 6, 5, 3, 2, 1]
            for length in [1, 3, 100] {
                let pages = try await allPages(
                    RecordQuery(.awaitingHook(HistoryFilter()), limit: length), on: store)
                try expectEqual(pages, all, "pages of \(length)")
            }
            for (filter, ids) in [
                (HistoryFilter(source: "odd"), [10, 6, 2]), (HistoryFilter(user: "eve"), [5]),
                (HistoryFilter(outcome: .expired), []),
                (HistoryFilter(button: "Yes"), [10, 6, 2]), (HistoryFilter(via: "answer"), [5]),
                (HistoryFilter(key: "k"), [5]), (HistoryFilter(by: .policy), []),
                (HistoryFilter(by: .person), all), (HistoryFilter(until: .distantPast), []),
                (HistoryFilter(text: "9"), [10]),
            ] as [(HistoryFilter, [Alert.ID])] {
                let query = RecordQuery(.awaitingHook(filter), limit: 2)
                try expectEqual(try await allPages(query, on: store), ids, "\(filter)")
            }
        },
    ]

    /// The ids of a query's records, page by page.
    private static func allPages(
        _ query: RecordQuery, on store: any AlertStore
    ) async throws -> [Alert.ID] {
        var (query, ids) = (query, [Alert.ID]())
        for _ in 0..<1000 {
            let page = try await store.page(query)
            try expect(page.records.count <= query.limit, "a page has at most its limit")
            ids += page.records.map(\.id)
            guard !page.isEnd else { return ids }
            query.after = try require(page.next, "position to go on from")
        }
        throw ContractFailure(description: "the pages of \(query) never end")
    }

    // MARK: History

    static let history = [
        StoreCheck("Each filter of the history, and each pair, finds what it describes") { queue in
            let store = try await queue.open()
            try await fillHistory(of: store, queue.clock)
            let all = try await store.history(HistoryFilter(), limit: 1000)
            try expectEqual(all.count, 40, "all responses")
            let times = all.compactMap(\.response?.resolvedAt)
            try expectEqual(times, times.sorted(by: >), "their order")
            let middle = try require(times.dropFirst(20).first, "time")
            let conditions = Self.conditions(around: middle)
            for (index, first) in conditions.enumerated() {
                for second in conditions[index...] {
                    var filter = HistoryFilter()
                    first(&filter)
                    second(&filter)
                    let found = try await store.history(filter, limit: 1000)
                    let expected = all.filter { record in
                        filter.admits(record)
                            && (!filter.uncollected || record.response?.collectedAt == nil)
                    }
                    try expectEqual(found, expected, "\(filter)")
                }
            }
        },
        StoreCheck("Pages of the history have no gaps even if all answers share a millisecond") {
            queue in
            let store = try await queue.open()
            for number in 1...24 { try await store.ask(.yesNo("word \(number)")) }
            // In a different order than asked, so that the order by id isn't the order by time.
            for id in [Alert.ID](1...24).sorted(by: { ($0 % 5, $0) < ($1 % 5, $1) }) {
                try await store.answer(id, Int(id / 2 % 2))
            }
            for filter in [
                HistoryFilter(), HistoryFilter(outcome: .answered), HistoryFilter(button: "Yes"),
                HistoryFilter(text: "word"),
            ] {
                let all = try await store.history(filter, limit: 1000).map(\.id)
                try expectEqual(all.count, filter.button == nil ? 24 : 12, "\(filter)")
                for length in [1, 5, 24] {
                    let query = RecordQuery(.history(filter), limit: length)
                    try expectEqual(
                        try await allPages(query, on: store), all, "pages of \(length)")
                }
            }
        },
        StoreCheck("The history finds whole words in all texts, ignoring case") { queue in
            let store = try await queue.open()
            try await store.ask(Alert("Deploy the café", buttons: ["Yes"]))
            try await store.ask(
                Alert("Other", message: "the deploy failed", buttons: ["Retry", "Ignore"]))
            try await store.ask(Alert("Third", userInfo: ["deploy": "value-7"]))
            for id in [2, 1] as [Alert.ID] { try await store.answer(id) }
            _ = try await store.resolve(3, .dismiss, by: .ana)
            for (text, ids) in [
                ("deploy", [1, 2]), ("DEPLOY cafe", [1]), ("\"the deploy\"", [2]), ("depl", []),
                ("depl*", [1, 2]), ("ignore", [2]), ("value", [3]), ("deploy -other", [2]),
                ("failed* third", []),
            ] as [(String, [Alert.ID])] {
                let found = try await store.history(HistoryFilter(text: text), limit: 9)
                try expectEqual(found.map(\.id), ids, "the history with “\(text)”")
            }
            let filtered = HistoryFilter(button: "Yes", text: "deploy")
            try expectEqual(
                try await store.history(filtered, limit: 9).map(\.id), [1], "with a button")
            for text in ["", "-", "\"open", String(repeating: "a", count: 1025)] {
                try await expectError("invalid") {
                    try await store.history(HistoryFilter(text: text), limit: 9)
                }
            }
        },
        StoreCheck("Statistics count outcomes by source and by button, in a period of time") {
            queue in
            let store = try await queue.open()
            let start = queue.clock.now()
            try await fillHistory(of: store, queue.clock)
            try await store.ask(source: "waits")
            let date = { Timestamp.date(milliseconds: start.advanced(by: $0).wallMilliseconds) }
            let all = try await store.statistics(StatisticsQuery()) { _, _ in }
            try expectEqual(all.total.asked, 41, "asked")
            try expectEqual(all.total.waiting, 1, "waiting")
            try expectEqual(all.oldestWaiting, date(.seconds(40)), "the oldest that waits")
            let history = try await store.history(HistoryFilter(), limit: 1000)
            for outcome in Outcome.allCases {
                let count = history.count { $0.response?.outcome == outcome }
                try expectEqual(all.total.outcomes[outcome, default: 0], count, "\(outcome)")
            }
            try expectEqual(all.sources.map(\.counts.asked).reduce(0, +), 41, "of all sources")
            let chosen = history.count { $0.response?.button?.id == "No" }
            try expectEqual(
                all.buttons.first { $0.name == "No" }?.counts.asked, chosen, "of a button")
            let answers = history.count { $0.response?.by == .person }
            try expectEqual(all.timeFromAsked.count, answers, "answers of persons")
            let some = try await store.statistics(
                StatisticsQuery(
                    source: "backup-0", since: date(.seconds(4)), until: date(.seconds(12)))
            ) { _, _ in }
            try expectEqual(some.total.asked, 4, "of a source in a period of time")
        },
        StoreCheck("Statistics count days and persons") { queue in
            let store = try await queue.open()
            let quarter: Int64 = 900_000
            let start = queue.clock.now().wallMilliseconds / quarter * quarter
            let bounds = (0...4).map { Timestamp.date(milliseconds: start + $0 * quarter) }
            try await fillHistory(of: store, queue.clock)
            queue.clock.advance(by: .seconds(1800))
            try await store.ask(source: "late")
            let all = try await store.statistics(StatisticsQuery(days: bounds)) { _, _ in }
            try expectEqual(all.days.map(\.start), Array(bounds.dropLast()), "beginnings")
            try expectEqual(all.days.map(\.end), Array(bounds.dropFirst()), "ends")
            let asked = all.days.map(\.counts.asked)
            try expectEqual(asked[0] + asked[1], 40, "asked at first")
            try expectEqual(asked[2] + asked[3], 1, "asked late")
            for outcome in Outcome.allCases {
                try expectEqual(
                    all.days.compactMap { $0.counts.outcomes[outcome] }.reduce(0, +),
                    all.total.outcomes[outcome] ?? 0, "\(outcome)")
            }
            let times = all.timeFromAsked
            for (answers, name) in [
                (all.days.map(\.answers), "days"), (all.sources.map(\.answers), "sources"),
                (all.users.map(\.answers), "users"),
            ] {
                let count = answers.map(\.count).reduce(0, +)
                try expectEqual(count, times.count, "answers of \(name)")
            }
            try expectEqual(all.users.count, 1, "persons")
            try expectEqual(all.users.first?.answers.median, times.median, "median")
            try expectEqual(
                all.users.first?.answers.percentile90, times.percentile(90), "percentile")
            let before = bounds[0] - 900
            let none = try await store.statistics(
                StatisticsQuery(days: [before, bounds[0]])
            ) { _, _ in }
            try expectEqual(none.days.map(\.counts.asked), [0], "asked before")
        },
    ]

    /// Forty responses of all kinds over forty seconds, some of them collected.
    private static func fillHistory(
        of store: any AlertStore, _ clock: ManualClock
    ) async throws {
        for number in 0..<40 {
            var alert = Alert.yesNo("\(number)", deadline: .after(.milliseconds(500)))
            if number % 3 == 0 { alert.key = "key-\(number)" }
            if number % 4 == 0 { alert.defaultButton = "No" }
            let source = number % 2 == 0 ? "backup" : "deploy"
            let asked = try await store.ask(alert, source: "\(source)-\(number / 30)")
            let id = asked.record.id
            switch number % 7 {
            case 0, 1, 2: try await store.answer(id, number % 2)
            case 3: _ = try await store.resolve(id, .withdraw(), by: .ben)
            case 4: _ = try await store.resolve(id, .cancel(handled: false), by: .ben)
            default: break
            }
            clock.advance(by: .seconds(1))
            _ = try await store.expired(id)
            if number % 5 == 0 { try await store.collect(id, by: .ben) }
        }
    }

    private static func conditions(
        around date: Date
    ) -> [@Sendable (inout HistoryFilter) -> Void] {
        [
            { $0.source = "backup-0" }, { $0.key = "key-9" }, { $0.outcome = .answered },
            { $0.outcome = .expired }, { $0.button = "No" }, { $0.by = .person },
            { $0.by = .policy }, { $0.user = "ana" }, { $0.via = "answer" }, { $0.since = date },
            { $0.until = date }, { $0.uncollected = true },
        ]
    }
}
