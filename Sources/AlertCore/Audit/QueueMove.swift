/// A move of the whole queue to another place, stored as the detail of its entry.
///
/// `to PLACE` while the queue is about to appear there, and `at PLACE` once it has. The documentation
/// has this grammar, so it never changes.
package struct QueueMove: Sendable, Hashable {
    /// The file or the location in which the queue goes on.
    package let place: String
    /// Whether it is known to have appeared there.
    package let hasArrived: Bool

    package init(to place: String, hasArrived: Bool) {
        self.place = place
        self.hasArrived = hasArrived
    }

    package var detail: String { (hasArrived ? "at " : "to ") + place }

    /// Reads an entry's detail.
    package init(_ detail: String) {
        hasArrived = detail.hasPrefix("at ")
        place = hasArrived || detail.hasPrefix("to ") ? String(detail.dropFirst(3)) : detail
    }
}

extension AuditDraft {
    /// The entry of a move.
    package init(_ move: QueueMove) {
        self.init(kind: .moved)
        detail = move.detail
    }
}
