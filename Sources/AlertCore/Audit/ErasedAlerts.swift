/// The alerts whose texts were erased according to one entry of the audit log.
///
/// As text, in the entry's detail: `alerts 1-180, 183`. What an erasure may leave of an alert is in
/// the entry of its ask.
package struct ErasedAlerts: Sendable {
    package let ranges: [ClosedRange<Alert.ID>]

    private static let start = "alerts "

    /// The alerts with these ids, in ascending order.
    package init(_ ids: [Alert.ID]) {
        var ranges: [ClosedRange<Alert.ID>] = []
        for id in ids {
            if let last = ranges.last, last.upperBound == id - 1 {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
        self.ranges = ranges
    }

    /// Reads an entry's detail; `nil` if it is not an erasure's.
    package init?(detail: String?) {
        guard let detail, detail.hasPrefix(Self.start),
            let ranges = Self.ranges(detail.dropFirst(Self.start.count))
        else { return nil }
        self.ranges = ranges
        // There is only one way to write it.
        guard self.detail.isIdentical(to: detail) else { return nil }
    }

    /// How many alerts they are; a forged entry may name more than there can be.
    var count: Int64 {
        ranges.reduce(0) { sum, range in
            sum.addingBounded(range.upperBound - range.lowerBound).addingBounded(1)
        }
    }

    package func contains(_ id: Alert.ID) -> Bool { ranges.contains { $0.contains(id) } }

    package var detail: String {
        Self.start
            + ranges.map { range in
                range.count == 1
                    ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
            }.joined(separator: ", ")
    }

    private static func ranges(_ text: Substring) -> [ClosedRange<Alert.ID>]? {
        var ranges: [ClosedRange<Alert.ID>] = []
        for part in text.split(separator: ",") {
            let ends = part.drop { $0 == " " }.split(separator: "-").map { Int64($0) }
            guard let first = ends.first ?? nil, let end = ends.last ?? nil, ends.count <= 2,
                first > ranges.last?.upperBound ?? 0, end >= first
            else { return nil }
            ranges.append(first...end)
        }
        return ranges.isEmpty ? nil : ranges
    }
}
