import AlertCore

/// The audit log of a queue in memory, with the same entries and bytes as that of any other queue.
struct InMemoryLog {
    /// An entry, with the process that wrote it and whether it is news for that process, too.
    struct Line {
        let entry: AuditEntry
        let process: Int
        /// Whether it is news even for the process that wrote it.
        let concernsOthers: Bool
    }

    /// The entries, from number 1.
    private(set) var lines: [Line] = []

    var head: AuditHead {
        lines.last?.entry.event.cursor ?? .start
    }

    mutating func append(_ entry: AuditEntry, by process: Int, concernsOthers: Bool) {
        lines.append(Line(entry: entry, process: process, concernsOthers: concernsOthers))
    }

    /// The last entry of a kind about an alert; `nil` if there is none.
    func last(_ kind: AlertEvent.Kind, of id: Alert.ID) -> AuditEntry? {
        lines.last { $0.entry.event.alertID == id && $0.entry.event.kind == kind }?.entry
    }

    /// The lines after a number, oldest first.
    func lines(after sequence: Int64) -> ArraySlice<Line> {
        lines[Int(min(max(0, sequence), Int64(lines.count)))...]
    }

    /// The lines after an entry, oldest first.
    func lines(after head: AuditHead) throws(AlertError) -> ArraySlice<Line> {
        guard
            head == .start
                || lines(after: head.sequence.subtractingBounded(1)).first?.entry.event.cursor
                    == head
        else { throw .unknownCursor(head, end: self.head.sequence) }
        return lines(after: head.sequence)
    }

    /// The entries that a query asks for, without the fields that come from their alerts.
    func entries(_ query: LogQuery) throws(AlertError) -> [AuditEntry] {
        let matches = { (line: Line) in
            query.alert == nil || line.entry.event.alertID == query.alert
        }
        switch query.start {
        case .after(let head):
            return try lines(after: head).lazy.filter(matches).prefix(query.limit).map(\.entry)
        case .from(let number):
            return lines(after: number.subtractingBounded(1)).lazy.filter(matches).prefix(
                query.limit
            ).map(\.entry)
        case .last(let count):
            let last = lines.reversed().lazy.filter(matches).prefix(count).map(\.entry)
            return Array(last.reversed().prefix(query.limit))
        }
    }
}
