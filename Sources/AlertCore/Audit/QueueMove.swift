import TextFormats

/// A move of the whole queue to another place.
package struct QueueMove: Sendable, Hashable {
    /// The file or the location in which the queue goes on.
    package let place: String
    /// Whether it is known to have appeared there; otherwise it is about to.
    package let hasArrived: Bool

    package init(to place: String, hasArrived: Bool) {
        self.place = place
        self.hasArrived = hasArrived
    }
}

extension QueueMove {
    init?(_ members: inout MemberReader) {
        if let place = members.string("at") {
            self.init(to: place, hasArrived: true)
        } else if let place = members.string("to") {
            self.init(to: place, hasArrived: false)
        } else {
            return nil
        }
    }

    /// Reads an entry's detail; one that can't be understood is a place by itself, since nothing is
    /// to be written after the entry of a move.
    package init(detail: String) {
        if case .moved(let move)? = EntryDetail(detail, of: .moved, nil) {
            self = move
        } else {
            self.init(to: detail, hasArrived: false)
        }
    }

    /// What the entry's detail has.
    var members: [(key: String, value: JSONValue)] {
        [(hasArrived ? "at" : "to", .string(place))]
    }
}

extension AuditDraft {
    /// The entry of a move.
    package init(_ move: QueueMove) {
        self.init(kind: .moved)
        detail = .moved(move)
    }
}
