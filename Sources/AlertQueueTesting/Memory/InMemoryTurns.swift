import AlertCore

/// Whose turn it is on the screen, of those that wait in memory.
///
/// Within a priority, the account that was shown longest ago comes first. Its alerts are shown in
/// rounds, and each source has one alert in a round; in a round, the oldest comes first.
struct InMemoryTurns {
    private struct Lane: Hashable {
        let priority: Alert.Priority
        let uid: UInt32
    }

    private struct Turn {
        /// The round that is under way.
        var round: Int64
        /// The entry of the log that tells of the account's last appearance.
        var shown: Int64
    }

    private var turns: [Lane: Turn] = [:]

    /// The round of an account that is under way.
    func round(of uid: UInt32, _ priority: Alert.Priority) -> Int64 {
        turns[Lane(priority: priority, uid: uid)]?.round ?? 0
    }

    /// Notes that an alert had its turn.
    ///
    /// - Parameter first: The first round that waits of its account and priority; `nil` for none.
    mutating func note(_ alert: InMemoryAlert, first: Int64?, entry sequence: Int64) {
        // An alert that was shown before others ends no round of theirs.
        let isEarly = first.map { alert.turn > $0 } ?? false
        let round = isEarly ? max(first ?? 1, 1) - 1 : alert.turn
        let lane = Lane(priority: alert.alert.priority, uid: alert.source.uid)
        turns[lane] = Turn(round: max(turns[lane]?.round ?? round, round), shown: sequence)
    }

    /// The alert whose turn it is, among some.
    func first(of candidates: [InMemoryAlert], at now: ClockReading) -> InMemoryAlert? {
        let groups = Alert.Priority.allCases.compactMap { priority in
            let alerts = candidates.filter { $0.alert.priority == priority }
            return alerts.isEmpty ? nil : (priority: priority, alerts: alerts)
        }
        // The priority of what has waited longest counts for all that waits with it.
        let urgencies = groups.map { group in
            group.alerts.min { $0.id < $1.id }?.position.effectivePriority(at: now)
        }
        let most = urgencies.compactMap(\.self).max()
        // Those that have become as urgent as others take turns with them.
        return zip(groups, urgencies).filter { $0.1 == most }
            .compactMap { group, _ in
                inTurn(group.alerts, group.priority).map {
                    (shown: lastShown(of: group.priority), alert: $0)
                }
            }
            .min { ($0.shown, $0.alert.id) < ($1.shown, $1.alert.id) }?.alert
    }

    /// Of alerts of one priority, the first one of the account that was shown longest ago.
    private func inTurn(
        _ alerts: [InMemoryAlert], _ priority: Alert.Priority
    ) -> InMemoryAlert? {
        Dictionary(grouping: alerts, by: \.source.uid).values
            .compactMap { own in own.min { ($0.turn, $0.id) < ($1.turn, $1.id) } }
            .min {
                (shown(of: $0.source.uid, priority), $0.id)
                    < (shown(of: $1.source.uid, priority), $1.id)
            }
    }

    private func shown(of uid: UInt32, _ priority: Alert.Priority) -> Int64 {
        turns[Lane(priority: priority, uid: uid)]?.shown ?? 0
    }

    private func lastShown(of priority: Alert.Priority) -> Int64 {
        turns.filter { $0.key.priority == priority }.values.map(\.shown).max() ?? 0
    }
}
