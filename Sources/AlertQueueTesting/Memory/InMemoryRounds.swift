import AlertCore

/// The rounds of the waiting alerts of each source, so that its last round is found without
/// searching all alerts.
struct InMemoryRounds {
    private struct Lane: Hashable {
        let source: SourceName
        let priority: Alert.Priority
    }

    /// In ascending order.
    private var rounds: [Lane: [Int64]] = [:]

    /// The last round of a source's waiting alerts of a priority; 0 for none.
    func last(of source: SourceName, _ priority: Alert.Priority) -> Int64 {
        rounds[Lane(source: source, priority: priority)]?.last ?? 0
    }

    mutating func add(_ alert: InMemoryAlert) {
        let lane = Lane(source: alert.sourceName, priority: alert.alert.priority)
        let index = rounds[lane, default: []].partitionIndex { $0 > alert.turn }
        rounds[lane, default: []].insert(alert.turn, at: index)
    }

    mutating func remove(_ alert: InMemoryAlert) {
        let lane = Lane(source: alert.sourceName, priority: alert.alert.priority)
        let index = rounds[lane, default: []].partitionIndex { $0 >= alert.turn }
        rounds[lane]?.remove(at: index)
    }
}

extension [Int64] {
    /// The index of the first element that is beyond a limit, in an array in ascending order.
    func partitionIndex(where isBeyond: (Int64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
