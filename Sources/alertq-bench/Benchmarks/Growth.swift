import AlertQueue
import SQLiteStore

/// What ten times as many alerts cost.
enum Growth: Benchmark {
    static let name = "growth"
    static let abstract = "Ask, next, answer, history and list with ten times as many alerts"

    private enum Work: String, CaseIterable {
        case ask, next, answer
        case history = "history page"
        case list = "list page"

        /// How often it is measured in a round.
        var count: Int { self == .list ? 10 : 150 }
        /// A page of what waits sorts the ids of all that waits.
        var limit: Double { self == .list ? 13 : 1.3 }
    }

    static func run(_ plan: Plan) async throws -> [Row] {
        let small = try await FilledQueue.make(
            resolved: plan.alerts / 10, waiting: plan.alerts / 10, plan: plan)
        let large = try await FilledQueue.make(
            resolved: plan.alerts, waiting: plan.alerts, plan: plan)
        let few = try await SQLiteAlertStore.open(path: small.path)
        let many = try await SQLiteAlertStore.open(path: large.path)
        var times = [Work: (few: [Double], many: [Double])]()
        for _ in 0..<plan.rounds {
            for work in Work.allCases {
                var (fewTimes, manyTimes): ([Double], [Double]) = ([], [])
                for turn in 0..<plan.count(work.count) + 5 {
                    let one = try await time(work, few)
                    let ten = try await time(work, many)
                    // The first turns read the pages into memory.
                    guard turn >= 5 || plan.isSmall else { continue }
                    fewTimes.append(one)
                    manyTimes.append(ten)
                }
                times[work, default: ([], [])].few.append(fewTimes.median)
                times[work, default: ([], [])].many.append(manyTimes.median)
            }
        }
        await few.close()
        await many.close()
        return Work.allCases.map { work in
            let (few, many) = times[work, default: ([], [])]
            return .time(
                name, "\(work.rawValue), \(plan.alerts) compared with \(plan.alerts / 10)",
                ours: many.median, plain: few.median, unit: "µs", atMost: work.limit)
        }
    }

    private static func time(_ work: Work, _ store: SQLiteAlertStore) async throws -> Double {
        let person = Caller(via: "terminal")
        // The alert to be answered is asked before the clock starts.
        let waiting = work == .answer ? try await store.enqueue(.sample, by: .bench).record.id : 0
        let start = ContinuousClock.now
        switch work {
        case .ask: _ = try await store.enqueue(.sample, by: .bench)
        case .next: _ = try await store.next(ScreenQuery(for: ["terminal"]))
        case .answer: _ = try await store.resolve(waiting, .choose(button: 0), by: person)
        case .history:
            _ = try await store.history(HistoryFilter(source: "backup"), limit: 50, after: nil)
        case .list: _ = try await store.pending(limit: 50)
        }
        return (ContinuousClock.now - start).inMicroseconds
    }
}
