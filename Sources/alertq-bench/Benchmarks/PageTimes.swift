import AlertQueue
import SQLiteStore

/// How long pages of the history take, each search in turn in each round.
struct PageTimes {
    typealias Search = (label: String, filter: HistoryFilter)

    /// A condition of a filter, with its name in the report.
    typealias Condition = (
        name: String, set: @Sendable (inout HistoryFilter) -> Void
    )

    private let plan: Plan
    private let searches: [Search]
    /// The 99th percentile of each search's pages, one per round, in microseconds.
    private var ends = [String: [Double]]()
    private var all: [Double] = []

    /// Measures the searches on an open store.
    static func measure(
        _ searches: [Search], on store: SQLiteAlertStore, plan: Plan
    ) async throws -> PageTimes {
        var times = PageTimes(plan: plan, searches: searches)
        let middle = Alert.ID(plan.alerts / 2)
        for _ in 0..<plan.rounds {
            for (label, filter) in searches {
                var pages: [Double] = []
                for round in 0..<plan.count(100) + 2 {
                    // A later page now and then: found by its key, it costs as much as the first.
                    let after = round % 4 == 3 ? middle : nil
                    let start = ContinuousClock.now
                    _ = try await store.history(filter, limit: 50, after: after)
                    let time = (ContinuousClock.now - start).inMicroseconds
                    // The first rounds read the pages into memory.
                    if round >= 2 { pages.append(time) }
                }
                times.ends[label, default: []].append(pages.percentile(99))
                times.all += pages
            }
        }
        return times
    }

    private init(plan: Plan, searches: [Search]) {
        self.plan = plan
        self.searches = searches
    }

    /// The size of the history in the rows' names.
    static func size(_ plan: Plan) -> String {
        plan.alerts >= 1_000_000 ? "\(plan.alerts / 1_000_000)M" : "\(plan.alerts)"
    }

    /// A row for each search, and the rows for all of them together.
    func rows(_ name: String) -> [Row] {
        let size = Self.size(plan)
        let limit = plan.alerts > 1_000_000 ? 1000.0 : 500
        let ordered = searches.map { ($0.label, ends[$0.label, default: []].median) }
        let worst = ordered.max { $0.1 < $1.1 }
        return ordered.map { label, end in
            .bound(name, "\(size), \(label), p99", end, unit: "µs", atMost: limit)
        } + [
            .reference(name, "\(size), of all pages, p50", all.median, unit: "µs"),
            .bound(
                name, "\(size), worst p99: \(worst?.0 ?? "-")", worst?.1 ?? .nan, unit: "µs",
                atMost: limit),
        ]
    }
}
