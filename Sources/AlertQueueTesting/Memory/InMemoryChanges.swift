import AlertCore

/// How often a queue in memory has changed, and how often that was news for each of the stores that
/// stand for processes.
struct InMemoryChanges {
    private var count: UInt64 = 0
    private var news: [Int: UInt64] = [:]

    mutating func open(_ process: Int) { news[process] = 0 }

    mutating func close(_ process: Int) { news[process] = nil }

    /// Counts a change; a loud one is news for the one who made it, too.
    mutating func add(by process: Int, concernsOthers: Bool) {
        count += 1
        for other in news.keys where concernsOthers || other != process {
            news[other, default: 0] += 1
        }
    }

    /// What there has been so far, for a store.
    func seen(by process: Int) -> LogPosition.Changes {
        LogPosition.Changes(all: count, byOthers: news[process, default: 0])
    }
}
