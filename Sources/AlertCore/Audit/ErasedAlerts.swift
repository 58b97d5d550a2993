import TextFormats

/// The alerts whose texts were erased according to one entry of the audit log.
///
/// What an erasure may leave of an alert is in the entry of its ask.
package struct ErasedAlerts: Sendable, Hashable {
    private let ids: NumberList

    /// The alerts with these ids, in ascending order.
    package init(_ ids: [Alert.ID]) { self.ids = NumberList(ids) }

    package var ranges: [ClosedRange<Alert.ID>] { ids.ranges }
    var count: Int64 { ids.count }

    package func contains(_ id: Alert.ID) -> Bool { ids.contains(id) }
}

extension ErasedAlerts {
    /// Reads an entry's detail; `nil` if it is not an erasure's.
    package init?(detail: String?) {
        guard let detail, case .erased(let alerts)? = EntryDetail(detail, of: .erased, nil) else {
            return nil
        }
        self = alerts
    }

    init?(_ members: inout MemberReader) {
        guard let ids = members.integers("alerts").flatMap(NumberList.init(ends:)) else {
            return nil
        }
        self.ids = ids
    }

    /// What the entry's detail has.
    var members: [(key: String, value: JSONValue)] { [("alerts", ids.json)] }

    var words: String { "alerts " + ids.text }
}
