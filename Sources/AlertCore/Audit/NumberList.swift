import TextFormats

/// Numbers of alerts or of entries, as details of the audit log list them: `1-180, 183`.
struct NumberList: Sendable, Hashable {
    let ranges: [ClosedRange<Int64>]

    /// The list of these numbers, in ascending order and without repetitions.
    init(_ numbers: [Int64]) {
        var ranges: [ClosedRange<Int64>] = []
        for number in numbers {
            if let last = ranges.last, last.upperBound == number - 1 {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        self.ranges = ranges
    }

    /// Reads a list; `nil` if it is none, or is empty.
    init?(_ text: Substring) {
        var ranges: [ClosedRange<Int64>] = []
        for part in text.split(separator: ",") {
            let ends = part.drop { $0 == " " }.split(separator: "-").map { Int64($0) }
            guard let first = ends.first ?? nil, let end = ends.last ?? nil, ends.count <= 2,
                first > ranges.last?.upperBound ?? 0, end >= first
            else { return nil }
            ranges.append(first...end)
        }
        guard !ranges.isEmpty else { return nil }
        self.ranges = ranges
    }

    var text: String {
        ranges.map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)-\(range.upperBound)"
        }.joined(separator: ", ")
    }

    /// How many numbers they are; a forged entry may name more than there can be.
    var count: Int64 {
        ranges.reduce(0) { sum, range in
            sum.addingBounded(range.upperBound - range.lowerBound).addingBounded(1)
        }
    }

    func contains(_ number: Int64) -> Bool { ranges.contains { $0.contains(number) } }
}
