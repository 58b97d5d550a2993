import AlertCore

/// How often a queue in memory has changed, in total and as seen by each store, which represents a
/// process.
struct InMemoryChanges {
    private var count: UInt64 = 0
    private var news: [Int: UInt64] = [:]

    mutating func open(_ process: Int) { news[process] = 0 }

    mutating func close(_ process: Int) { news[process] = nil }

    /// Counts a change; one that concerns others is news even for the process that made it.
    mutating func add(by process: Int, concernsOthers: Bool) {
        count += 1
        for other in news.keys where concernsOthers || other != process {
            news[other, default: 0] += 1
        }
    }

    /// The counts so far, as a store sees them.
    func seen(by process: Int) -> LogPosition.Changes {
        LogPosition.Changes(all: count, byOthers: news[process, default: 0])
    }
}
