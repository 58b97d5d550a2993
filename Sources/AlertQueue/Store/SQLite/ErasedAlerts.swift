/// The alerts whose texts one entry of the audit log says were erased.
///
/// As text, in the entry's detail: `alerts 1-180, 183`.
struct ErasedAlerts: Sendable {
    private(set) var ranges: [ClosedRange<Int64>] = []

    private static let prefix = "alerts "

    /// - Parameter ids: In ascending order.
    init(_ ids: [Alert.ID]) {
        for id in ids {
            if let last = ranges.last, last.upperBound == id - 1 {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
    }

    /// Reads an entry's detail; `nil` for one that no erasure has.
    init?(detail: String?) {
        guard let detail, detail.hasPrefix(Self.prefix) else { return nil }
        var last: Int64 = 0
        for part in detail.dropFirst(Self.prefix.count).split(separator: ",") {
            let ends = part.drop { $0 == " " }.split(separator: "-").map { Int64($0) }
            guard let first = ends.first ?? nil, let end = ends.last ?? nil, ends.count <= 2,
                first > last, end >= first
            else { return nil }
            ranges.append(first...end)
            last = end
        }
        guard !ranges.isEmpty else { return nil }
    }

    var detail: String {
        Self.prefix
            + ranges.map { range in
                range.count == 1
                    ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
            }.joined(separator: ", ")
    }
}

/// All alerts that some entries of the audit log say were erased.
struct ErasedRanges: Sendable {
    /// By where they begin; an entry's are in order, and mostly those of all entries.
    private var ranges: [ClosedRange<Int64>] = []
    private var isSorted = true

    mutating func add(_ alerts: ErasedAlerts) {
        for range in alerts.ranges {
            // A range of the log begins with 1 at least.
            if let last = ranges.last, last.upperBound == range.lowerBound - 1 {
                ranges[ranges.count - 1] = last.lowerBound...range.upperBound
            } else {
                isSorted = isSorted && ranges.last.map { $0.upperBound < range.lowerBound } ?? true
                ranges.append(range)
            }
        }
    }

    mutating func contains(_ id: Alert.ID) -> Bool {
        if !isSorted {
            ranges.sort { $0.lowerBound < $1.lowerBound }
            isSorted = true
        }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < id { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(id)
    }
}

/// A JSON array of buttons from which the labels are to go, and the ids that are labels.
struct ErasedButtons {
    let json: String
    /// What is left of the id of each button.
    let ids: [String?]

    init(_ stored: String) {
        // What can't be understood can't be erased in part.
        let buttons = (try? StoredJSON.partialButtons(stored)) ?? []
        ids = buttons.map { button in
            guard let id = button.id else { return nil }
            return button.title.map { $0.isIdentical(to: id) } ?? false ? nil : id
        }
        json = StoredJSON.encode(
            zip(buttons, ids).map { StoredJSON.PartialButton(id: $1, title: nil, role: $0.role) })
    }
}
