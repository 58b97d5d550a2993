import TextFormats

/// Numbers of alerts or of entries, which details of the audit log list as the first and the last
/// number of each range: `[1,180,183,183]`.
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

    /// The list with these first and last numbers of ranges, in turn; `nil` if that is none.
    init?(ends: [Int64]) {
        guard !ends.isEmpty, ends.count.isMultiple(of: 2) else { return nil }
        var ranges: [ClosedRange<Int64>] = []
        for index in stride(from: 0, to: ends.count, by: 2) {
            let (first, last) = (ends[index], ends[index + 1])
            // Ranges that touch would be one.
            guard last >= first, first > ranges.last?.upperBound.addingBounded(1) ?? 0 else {
                return nil
            }
            ranges.append(first...last)
        }
        self.ranges = ranges
    }

    var json: JSONValue {
        .array(ranges.flatMap { [.integer($0.lowerBound), .integer($0.upperBound)] })
    }

    /// As people read it: `1-180, 183`.
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
