import AlertQueue
import FoundationEssentials
import SQLiteStore

/// How long a page of the history takes when it is searched by words, with and without a filter.
enum TextPages: Benchmark {
    static let name = "text"
    static let abstract = "Pages of 50 rows by common and rare words, alone and with a filter"

    static func run(_ plan: Plan) async throws -> [Row] {
        let queue = try await FilledQueue.make(
            resolved: plan.alerts, waiting: plan.alerts, plan: plan)
        let store = try await SQLiteAlertStore.open(path: queue.path)
        let size = PageTimes.size(plan)
        var rows: [Row] = []
        let start = ContinuousClock.now
        try await store.rebuildTextIndex { _, _ in }
        let time = (ContinuousClock.now - start).inSeconds
        rows.append(.reference(name, "indexing \(size)", Double(plan.alerts) / time, unit: "/s"))
        let newest = try await store.history(HistoryFilter(), limit: 1, after: nil)
        let searches = searches(now: newest.first?.response?.resolvedAt ?? Date(), plan.alerts)
        let times = try await PageTimes.measure(searches, on: store, plan: plan)
        await store.close()
        return rows + times.rows(name)
    }

    /// Each text alone, and with each filter.
    private static func searches(
        now: Date, _ alerts: Int
    ) -> [PageTimes.Search] {
        let tenth = Double(alerts) / 100
        let texts = [
            ("every", "question"), ("every two", "question gb"), ("most", "yes"),
            ("phrase", "\"40 GB\""), ("1 in 1,000", "disk7"), ("common + 1 in 1,000", "gb disk7"),
            ("one", "\(alerts / 2)"), ("none", "nowhere"),
        ]
        let conditions: [PageTimes.Condition] = [
            ("", { _ in }),
            ("source", { $0.source = "backup" }),
            ("rare source", { $0.source = Sample.rareSource }),
            ("answered", { $0.outcome = .answered }), ("rare button", { $0.button = "later" }),
            ("policy", { $0.by = .policy }), ("uncollected", { $0.uncollected = true }),
            ("since", { $0.since = now - tenth }), ("until", { $0.until = now - 9 * tenth }),
        ]
        return texts.flatMap { label, text in
            conditions.map { condition in
                var filter = HistoryFilter(text: text)
                condition.set(&filter)
                let name = [label, condition.name].filter { !$0.isEmpty }.joined(separator: " + ")
                return ("word \(name)", filter)
            }
        }
    }
}
