import AlertQueue
import FoundationEssentials

/// How long a page of the history takes that is searched by words, with and without a filter.
enum TextPages: Benchmark {
    static let name = "text"
    static let abstract = "Pages of 50 rows by common and rare words, alone and with a filter"

    private typealias Condition = (
        name: String, set: @Sendable (inout HistoryFilter) -> Void
    )

    static func run(_ plan: Plan) async throws -> [Row] {
        let queue = try await FilledQueue.make(
            resolved: plan.alerts, waiting: plan.alerts, plan: plan)
        let store = try await SQLiteAlertStore.open(path: queue.path)
        let size = plan.alerts >= 1_000_000 ? "\(plan.alerts / 1_000_000)M" : "\(plan.alerts)"
        var rows: [Row] = []
        let unindexed = try await store.unindexedCount()
        let start = ContinuousClock.now
        try await store.indexTexts { _, _ in }
        if unindexed > 0 {
            let time = (ContinuousClock.now - start).inSeconds
            rows.append(.reference(name, "indexing \(size)", Double(unindexed) / time, unit: "/s"))
        }
        let newest = try await store.history(HistoryFilter(), limit: 1, after: nil)
        let searches = searches(now: newest.first?.response?.resolvedAt ?? Date(), plan.alerts)
        let middle = Alert.ID(plan.alerts / 2)
        var ends = [String: [Double]]()
        var all: [Double] = []
        for _ in 0..<plan.rounds {
            for (label, filter) in searches {
                var pages: [Double] = []
                for round in 0..<plan.count(100) + 2 {
                    let after = round % 4 == 3 ? middle : nil
                    let start = ContinuousClock.now
                    _ = try await store.history(filter, limit: 50, after: after)
                    let time = (ContinuousClock.now - start).inMicroseconds
                    // The first ones read the pages into memory.
                    if round >= 2 { pages.append(time) }
                }
                ends[label, default: []].append(pages.percentile(99))
                all += pages
            }
        }
        await store.close()
        let limit = plan.alerts > 1_000_000 ? 1000.0 : 500
        let ordered = searches.map { ($0.label, ends[$0.label, default: []].median) }
        let worst = ordered.max { $0.1 < $1.1 }
        return rows
            + ordered.map { label, end in
                .bound(name, "\(size), \(label), p99", end, unit: "µs", atMost: limit)
            } + [
                .reference(name, "\(size), of all pages, p50", all.median, unit: "µs"),
                .bound(
                    name, "\(size), worst p99: \(worst?.0 ?? "-")", worst?.1 ?? .nan, unit: "µs",
                    atMost: limit),
            ]
    }

    /// Each text alone, and with each filter.
    private static func searches(
        now: Date, _ alerts: Int
    ) -> [(label: String, filter: HistoryFilter)] {
        let tenth = Double(alerts) / 100
        let texts = [
            ("every", "question"), ("every two", "question gb"), ("most", "yes"),
            ("phrase", "\"40 GB\""), ("1 in 1,000", "disk7"), ("common + 1 in 1,000", "gb disk7"),
            ("one", "\(alerts / 2)"), ("none", "nowhere"),
        ]
        let conditions: [Condition] = [
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
