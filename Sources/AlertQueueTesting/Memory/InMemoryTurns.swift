import AlertCore

/// The order in which the waiting alerts of a queue in memory are shown.
///
/// Within a priority, the account that was shown longest ago comes first. Its alerts are shown in
/// rounds, with one alert of each source in a round, the oldest first.
struct InMemoryTurns {
    private struct Lane: Hashable {
        let priority: Alert.Priority
        let uid: UInt32
    }

    private struct Turn {
        /// The current round.
        var round: Int64
        /// The number of the log entry about the account's last appearance.
        var shown: Int64
    }

    private var turns: [Lane: Turn] = [:]

    /// The current round of an account.
    func round(of uid: UInt32, _ priority: Alert.Priority) -> Int64 {
        turns[Lane(priority: priority, uid: uid)]?.round ?? 0
    }

    /// Records that an alert had its turn.
    ///
    /// - Parameter first: The first round with a waiting alert of its account and priority; `nil`
    ///   for none.
    mutating func note(_ alert: InMemoryAlert, first: Int64?, entry sequence: Int64) {
        // An alert that was shown out of turn does not end the rounds before its own.
        let isEarly = first.map { alert.turn > $0 } ?? false
        let round = isEarly ? max(first ?? 1, 1) - 1 : alert.turn
        let lane = Lane(priority: alert.alert.priority, uid: alert.source.uid)
        turns[lane] = Turn(round: max(turns[lane]?.round ?? round, round), shown: sequence)
    }

    /// The alert among the candidates whose turn it is.
    func first(of candidates: [InMemoryAlert], at now: ClockReading) -> InMemoryAlert? {
        let groups = Alert.Priority.allCases.compactMap { priority in
            let alerts = candidates.filter { $0.alert.priority == priority }
            return alerts.isEmpty ? nil : (priority: priority, alerts: alerts)
        }
        // The alert that has waited longest sets the urgency of all alerts of its priority.
        let urgencies = groups.map { group in
            group.alerts.min { $0.id < $1.id }?.position.effectivePriority(at: now)
        }
        let most = urgencies.compactMap(\.self).max()
        // Groups that have become equally urgent take turns.
        return zip(groups, urgencies).filter { $0.1 == most }
            .compactMap { group, _ in
                inTurn(group.alerts, group.priority).map {
                    (shown: lastShown(of: group.priority), alert: $0)
                }
            }
            .min { ($0.shown, $0.alert.id) < ($1.shown, $1.alert.id) }?.alert
    }

    /// The first alert of the account that was shown longest ago, among alerts of one priority.
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
