/// What has happened in a queue.
package struct News: Sendable {
    /// What somebody wants to hear of.
    package enum Scope: Sendable {
        /// What this process did not do itself, or what means more than the one who did it knows,
        /// such as the expiry of another alert. A damaged entry is passed on as it is.
        case others
        /// Everything; an entry that was changed is an error.
        case everybody
    }

    /// Entries of the log, oldest first.
    package var events: [AlertEvent]
    /// Where to go on.
    package var position: LogPosition
    /// Whether something has changed; also where that has no entry, such as the end of a snooze.
    package var hasChanged: Bool

    package init(events: [AlertEvent], position: LogPosition, hasChanged: Bool) {
        self.events = events
        self.position = position
        self.hasChanged = hasChanged
    }
}
