import TextFormats

/// The screens attached to a queue at one moment.
package struct ScreenRoster: Sendable, Hashable, Codable {
    /// The screen that chooses the current alert; `nil` if none leads.
    package var leader: AttachedScreen?
    package var followers: [AttachedScreen]

    package init(leader: AttachedScreen? = nil, followers: [AttachedScreen] = []) {
        self.leader = leader
        self.followers = followers
    }

    /// All screens, the leader first.
    package var all: [AttachedScreen] { [leader].compactMap(\.self) + followers }

    /// The screens that can show any alert. The asker's own terminal shows no other one.
    package var forAll: [AttachedScreen] {
        all.filter { $0.isThere && $0.only == nil && !$0.presenters.isEmpty }
    }

    /// Leaves out the screens of a process.
    package mutating func leaveOut(_ process: ProcessIdentity) {
        if let leader, leader.process.isSame(as: process) { self.leader = nil }
        followers.removeAll { $0.process.isSame(as: process) }
    }

    /// The queue's current alert, as the leader announces it.
    package var current: Alert.ID? { leader?.current }

    /// Whether an alert is on the screen of a running process.
    package func shows(_ id: Alert.ID) -> Bool {
        all.contains { $0.isThere && $0.alert == id }
    }

    /// The records, with their states as these screens tell.
    package func states(of records: [AlertRecord]) -> [AlertRecord] {
        records.map { record in
            guard record.state == .queued, shows(record.id) else { return record }
            var record = record
            record.state = .presented
            return record
        }
    }

    /// Whether an alert is on a screen with a delegate, which may handle its cancel.
    package func hasDelegate(for id: Alert.ID) -> Bool {
        all.contains { $0.isThere && $0.alert == id && $0.hasDelegate }
    }

    /// Whether the screen of a running process may show an alert, now or later.
    package func mayShow(_ alert: Alert, _ id: Alert.ID? = nil) -> Bool {
        all.contains { $0.isThere && $0.mayShow(alert, id) }
    }

    /// Whether one can do so now.
    package func canShow(_ alert: Alert, _ id: Alert.ID) -> Bool {
        all.contains { $0.isThere && !$0.isBusy && $0.mayShow(alert, id) }
    }

    /// What some screen can show now: alerts for presenters of these names, and single alerts.
    package var query: (presenters: [String], own: [Alert.ID]) {
        let able = all.filter { $0.isThere && !$0.isBusy }
        var presenters: [String] = []
        for name in able.filter({ $0.only == nil }).flatMap(\.presenters)
        where !presenters.hasIdentical(name) {
            presenters.append(name)
        }
        return (presenters, able.filter { !$0.presenters.isEmpty }.compactMap(\.only))
    }
}
