/// The values that determine an alert's position in the queue.
package struct QueuePosition: Sendable {
    package let id: Alert.ID
    package let priority: Alert.Priority
    package let asked: ClockReading

    package init(id: Alert.ID, priority: Alert.Priority, asked: ClockReading) {
        self.id = id
        self.priority = priority
        self.asked = asked
    }

    /// The order of the list: priority, raised by waiting, then age.
    package func comes(before other: QueuePosition, at now: ClockReading) -> Bool {
        let (mine, its) = (effectivePriority(at: now), other.effectivePriority(at: now))
        return mine == its ? id < other.id : mine > its
    }

    /// The priority, one step higher for each hour of waiting.
    package func effectivePriority(at now: ClockReading) -> Int {
        let steps = max(0, min(3, asked.time(until: now).components.seconds / 3600))
        return min(Alert.Priority.critical.rawValue, priority.rawValue + Int(steps))
    }
}
