/// How far somebody has followed a queue.
package struct LogPosition: Sendable, Hashable {
    /// The last entry of the audit log that has been seen; 0 for none.
    package var sequence: Int64
    /// How many changes the store had noticed then; `nil` where that is not known, so that it is
    /// looked at once more.
    package var changes: Changes?

    package struct Changes: Sendable, Hashable {
        /// Those of ``News/Scope/everybody``.
        package var all: UInt64
        /// Those of ``News/Scope/others``.
        package var byOthers: UInt64

        package init(all: UInt64, byOthers: UInt64) {
            self.all = all
            self.byOthers = byOthers
        }

        package subscript(scope: News.Scope) -> UInt64 {
            switch scope {
            case .others: byOthers
            case .everybody: all
            }
        }
    }

    package init(sequence: Int64, changes: Changes? = nil) {
        self.sequence = sequence
        self.changes = changes
    }
}

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

/// Which entries of the audit log to read.
package struct LogQuery: Sendable {
    package enum Start: Sendable {
        /// After a sequence number.
        case after(Int64)
        /// So many before the end.
        case last(Int)
    }

    package var start: Start
    /// The alert whose entries to read; `nil` for all.
    package var alert: Alert.ID?
    /// How many entries at most, the oldest first.
    package var limit: Int

    package init(_ start: Start, of alert: Alert.ID? = nil, limit: Int) {
        self.start = start
        self.alert = alert
        self.limit = limit
    }
}
