/// Recent events in a queue.
package struct News: Sendable, Codable {
    /// Which events a reader wants.
    package enum Scope: Sendable, Codable {
        /// Events of other processes, and those of this one that concern more than the call that
        /// caused them, such as the expiry of another alert. An entry that was changed is passed on
        /// as it is.
        case others
        /// All events; an entry that was changed is an error.
        case everybody
    }

    /// Entries of the log, oldest first.
    package var events: [AlertEvent]
    /// Where to continue.
    package var position: LogPosition
    /// Whether something has changed, including changes without an entry, such as the end of a
    /// snooze.
    package var hasChanged: Bool
    /// Why alerts whose deadlines have passed may still wait: this store can't store their expiries,
    /// and that lasts.
    package var cannotExpire: AlertError?

    package init(events: [AlertEvent], position: LogPosition, hasChanged: Bool) {
        self.events = events
        self.position = position
        self.hasChanged = hasChanged
    }
}
