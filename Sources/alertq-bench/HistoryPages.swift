import AlertQueue
import FoundationEssentials

/// How long a page of the history takes, with each filter and each useful pair of filters.
enum HistoryPages: Benchmark {
    static let name = "history"
    static let abstract = "Pages of 50 rows by each filter and each useful pair of filters"

    private typealias Condition = (
        name: String, set: @Sendable (inout HistoryFilter) -> Void
    )

    static func run(_ plan: Plan) async throws -> [Row] {
        let queue = try await FilledQueue.make(
            resolved: plan.alerts, waiting: plan.alerts, plan: plan)
        let store = try await SQLiteAlertStore.open(path: queue.path)
        let newest = try await store.history(HistoryFilter(), limit: 1, after: nil)
        let filters = filters(now: newest.first?.response?.resolvedAt ?? Date(), plan.alerts)
        let middle = Alert.ID(plan.alerts / 2)
        var times = [String: [Double]]()
        var ends = [String: [Double]]()
        for _ in 0..<plan.rounds {
            for (label, filter) in filters {
                var pages: [Double] = []
                for round in 0..<plan.count(100) + 2 {
                    // A later page now and then: by key, it costs what the first one costs.
                    let after = round % 4 == 3 ? middle : nil
                    let start = ContinuousClock.now
                    _ = try await store.history(filter, limit: 50, after: after)
                    let time = (ContinuousClock.now - start).inMicroseconds
                    // The first ones read the pages into memory.
                    if round >= 2 { pages.append(time) }
                }
                times[label, default: []] += pages
                ends[label, default: []].append(pages.percentile(99))
            }
        }
        await store.close()
        let limit = plan.alerts > 1_000_000 ? 1000.0 : 500
        let ordered = filters.map { ($0.label, ends[$0.label, default: []].median) }
        let worst = ordered.max { $0.1 < $1.1 }
        let size = plan.alerts >= 1_000_000 ? "\(plan.alerts / 1_000_000)M" : "\(plan.alerts)"
        return ordered.map { label, end in
            .bound(name, "\(size), \(label), p99", end, unit: "µs", atMost: limit)
        } + [
            .reference(
                name, "\(size), of all pages, p50", times.values.joined().map { $0 }.median,
                unit: "µs"),
            .bound(
                name, "\(size), worst p99: \(worst?.0 ?? "-")", worst?.1 ?? .nan, unit: "µs",
                atMost: limit),
        ]
    }

    /// No filter, each one, and each pair that can find anything.
    private static func filters(
        now: Date, _ alerts: Int
    ) -> [(label: String, filter: HistoryFilter)] {
        // The last tenth and the first tenth of what there is.
        let tenth = Double(alerts) / 100
        let groups: [[Condition]] = [
            [
                ("source", { $0.source = "backup" }),
                ("rare source", { $0.source = Sample.rareSource }),
            ],
            [("key", { $0.key = key(alerts) })],
            [
                ("answered", { $0.outcome = .answered }),
                ("dismissed", { $0.outcome = .dismissed }),
                ("cancelled", { $0.outcome = .cancelled }),
            ],
            [("button", { $0.button = "no" }), ("rare button", { $0.button = "later" })],
            [("person", { $0.by = .person }), ("policy", { $0.by = .policy })],
            [("since", { $0.since = now - tenth }), ("until", { $0.until = now - 9 * tenth })],
            [("uncollected", { $0.uncollected = true })],
        ]
        var filters: [(label: String, filter: HistoryFilter)] = [("all", HistoryFilter())]
        for (index, group) in groups.enumerated() {
            for first in group {
                filters.append(filter([first]))
                for second in groups[(index + 1)...].joined() {
                    filters.append(filter([first, second]))
                }
            }
        }
        return filters
    }

    private static func filter(
        _ conditions: [Condition]
    ) -> (label: String, filter: HistoryFilter) {
        var filter = HistoryFilter()
        for condition in conditions { condition.set(&filter) }
        return (conditions.map(\.name).joined(separator: " + "), filter)
    }

    /// The key of some alert in the middle.
    private static func key(_ alerts: Int) -> String? {
        (alerts / 2..<alerts).lazy.compactMap { Sample($0).key }.first
    }
}
