import AlertQueue
import FoundationEssentials
import SQLiteStore

/// How long a page of the history takes, with each filter and each useful pair of filters.
enum HistoryPages: Benchmark {
    static let name = "history"
    static let abstract = "Pages of 50 rows by each filter and each useful pair of filters"

    static func run(_ plan: Plan) async throws -> [Row] {
        let queue = try await FilledQueue.make(
            resolved: plan.alerts, waiting: plan.alerts, plan: plan)
        let store = try await SQLiteAlertStore.open(path: queue.path)
        let newest = try await store.history(HistoryFilter(), limit: 1, after: nil)
        let filters = filters(now: newest.first?.response?.resolvedAt ?? Date(), plan.alerts)
        let times = try await PageTimes.measure(filters, on: store, plan: plan)
        await store.close()
        return times.rows(name)
    }

    /// No filter, each one, and each pair that can find anything.
    private static func filters(
        now: Date, _ alerts: Int
    ) -> [PageTimes.Search] {
        // The last tenth and the first tenth of the history.
        let tenth = Double(alerts) / 100
        let groups: [[PageTimes.Condition]] = [
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
        var filters: [PageTimes.Search] = [("all", HistoryFilter())]
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
        _ conditions: [PageTimes.Condition]
    ) -> PageTimes.Search {
        var filter = HistoryFilter()
        for condition in conditions { condition.set(&filter) }
        return (conditions.map(\.name).joined(separator: " + "), filter)
    }

    /// The key of an alert in the middle.
    private static func key(_ alerts: Int) -> String? {
        (alerts / 2..<alerts).lazy.compactMap { Sample($0).key }.first
    }
}
