import TextFormats

/// The alerts whose texts were erased according to one entry of the audit log.
///
/// As text, in the entry's detail: `alerts 1-180, 183`. What an erasure may leave of an alert is in
/// the entry of its ask.
package struct ErasedAlerts: Sendable {
    private let ids: NumberList

    private static let start = "alerts "

    /// The alerts with these ids, in ascending order.
    package init(_ ids: [Alert.ID]) { self.ids = NumberList(ids) }

    /// Reads an entry's detail; `nil` if it is not an erasure's.
    package init?(detail: String?) {
        guard let detail, detail.hasPrefix(Self.start),
            let ids = NumberList(detail.dropFirst(Self.start.count))
        else { return nil }
        self.ids = ids
        // There is only one way to write it.
        guard self.detail.isIdentical(to: detail) else { return nil }
    }

    package var detail: String { Self.start + ids.text }
    package var ranges: [ClosedRange<Alert.ID>] { ids.ranges }
    var count: Int64 { ids.count }

    package func contains(_ id: Alert.ID) -> Bool { ids.contains(id) }
}
