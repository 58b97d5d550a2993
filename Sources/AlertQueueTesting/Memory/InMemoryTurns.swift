import AlertCore

/// When the alerts of each source, principal and priority last appeared on the screen, which decides
/// whose turn it is.
///
/// Moments are told by the sequence numbers of the log's entries; 0 stands for never.
struct InMemoryTurns {
    private struct Lane: Hashable {
        let priority: Alert.Priority
        var principal: Principal?
        var source: SourceName?
    }

    private var shown: [Lane: Int64] = [:]

    /// Records that an alert had its turn.
    mutating func note(_ alert: InMemoryAlert, entry sequence: Int64) {
        let (priority, principal) = (alert.alert.priority, alert.source.principal)
        shown[Lane(priority: priority)] = sequence
        shown[Lane(priority: priority, principal: principal)] = sequence
        shown[Lane(priority: priority, source: alert.sourceName)] = sequence
    }

    /// The alert among the candidates whose turn it is.
    func first(of candidates: [InMemoryAlert], at now: ClockReading) -> InMemoryAlert? {
        let lines = Alert.Priority.allCases.map { priority in
            let alerts = candidates.filter { $0.alert.priority == priority }
            let heads = Dictionary(grouping: alerts, by: \.sourceName).values.compactMap { own in
                own.min { $0.queuedSequence < $1.queuedSequence }
            }
            return PriorityLines(
                priority, heads.map(line), lastShown: shown[Lane(priority: priority), default: 0])
        }
        let alert = { (id: Alert.ID) in candidates.first { $0.id == id } }
        return PriorityLines.next(of: lines, at: now) { alert($0)?.position }.flatMap(alert)
    }

    private func line(_ head: InMemoryAlert) -> SourceLine<Principal> {
        let (priority, principal) = (head.alert.priority, head.source.principal)
        return SourceLine(
            head: head.id, queued: head.queuedSequence, principal: principal,
            principalShown: shown[Lane(priority: priority, principal: principal), default: 0],
            sourceShown: shown[Lane(priority: priority, source: head.sourceName), default: 0])
    }
}
