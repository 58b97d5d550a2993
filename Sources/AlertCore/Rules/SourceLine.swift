/// The line of a source at one priority: its alerts that may be shown, the one first that has been
/// in line longest.
///
/// Moments are told by the sequence numbers of the log's entries, which no clock can set back.
package struct SourceLine<Asker: Hashable & Sendable>: Sendable {
    /// The first alert in the line.
    package let head: Alert.ID
    /// The entry since which it is in line: that of its ask, or of its last snooze after it was
    /// shown.
    package let queued: Int64
    package let principal: Asker
    /// The last appearances at this priority, of the principal and of the source; 0 for none.
    package let principalShown: Int64
    package let sourceShown: Int64

    package init(
        head: Alert.ID, queued: Int64, principal: Asker, principalShown: Int64, sourceShown: Int64
    ) {
        self.head = head
        self.queued = queued
        self.principal = principal
        self.principalShown = principalShown
        self.sourceShown = sourceShown
    }

    /// The alert whose turn it is among the lines of one priority; `nil` if there are none.
    ///
    /// The principal that has waited longest comes first, and of its sources the one that has. Both
    /// wait since their last appearance or, if that is later, since an alert of theirs is in line:
    /// so each comes up once before another comes up twice, and whoever asks later, under however
    /// many names, gets ahead of nobody.
    package static func next(of lines: [SourceLine]) -> Alert.ID? {
        Dictionary(grouping: lines, by: \.principal).values
            .min { principalKey($0) < principalKey($1) }?
            .min { $0.key < $1.key }?.head
    }

    private var key: (Int64, Alert.ID) { (max(queued, sourceShown), head) }

    private static func principalKey(_ lines: [SourceLine]) -> (Int64, Alert.ID) {
        lines.map { (max($0.queued, $0.principalShown), $0.head) }.min { $0 < $1 } ?? (.max, .max)
    }
}

/// The lines of one priority.
package struct PriorityLines<Asker: Hashable & Sendable>: Sendable {
    package let priority: Alert.Priority
    package let lines: [SourceLine<Asker>]
    /// The last appearance of an alert of this priority, as an entry of the log; 0 for none.
    package let lastShown: Int64

    package init(
        _ priority: Alert.Priority, _ lines: [SourceLine<Asker>], lastShown: Int64
    ) {
        self.priority = priority
        self.lines = lines
        self.lastShown = lastShown
    }

    /// The alert whose turn it is among the lines of all priorities; `nil` if there are none.
    ///
    /// The most urgent priority comes first. The alert of a priority that has waited longest counts
    /// for all of them, and priorities that have become equally urgent take turns.
    ///
    /// - Parameter position: The position of an alert, which is not read if only one priority has
    ///   lines.
    package static func next<Failure: Error>(
        of all: [PriorityLines], at now: ClockReading,
        position: (Alert.ID) throws(Failure) -> QueuePosition?
    ) throws(Failure) -> Alert.ID? {
        let present = all.filter { !$0.lines.isEmpty }
        guard present.count > 1 else {
            return present.first.flatMap { SourceLine.next(of: $0.lines) }
        }
        var urgent: (urgency: Int, lines: [PriorityLines]) = (-1, [])
        for lines in present {
            let oldest = try lines.lines.map(\.head).min().flatMap(position)
            let urgency = oldest?.effectivePriority(at: now) ?? lines.priority.rawValue
            if urgency > urgent.urgency { urgent = (urgency, []) }
            if urgency == urgent.urgency { urgent.lines.append(lines) }
        }
        return urgent.lines
            .compactMap { lines in SourceLine.next(of: lines.lines).map { (lines.lastShown, $0) } }
            .min { $0 < $1 }?.1
    }
}
