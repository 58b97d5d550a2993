import AlertCore

/// How often a queue in memory has changed, and which change was the last that was news for each
/// store, which represents a process.
struct InMemoryChanges {
    /// The mark of the changes so far.
    private(set) var count: UInt64 = 0
    private var news: [Int: UInt64] = [:]

    mutating func open(_ process: Int) { news[process] = count }

    mutating func close(_ process: Int) { news[process] = nil }

    /// Counts a change; one that concerns others is news even for the process that made it.
    mutating func add(by process: Int, concernsOthers: Bool) {
        count += 1
        for other in news.keys where concernsOthers || other != process {
            news[other] = count
        }
    }

    /// Whether something that is news for a store has changed since a mark.
    func hasChanged(since mark: UInt64?, in scope: News.Scope, for process: Int) -> Bool {
        guard let mark else { return true }
        return mark < (scope == .others ? news[process, default: 0] : count)
    }
}
