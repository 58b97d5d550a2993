import AlertPresenters
import AlertQueue

/// Numbers as bars of text.
enum BarText {
    /// A histogram as lines, one for each bar that counts anything.
    ///
    /// - Parameters:
    ///   - columns: How wide a line may be; less than 20 counts as 20.
    ///   - hasBlocks: Whether bars are made of block elements, and not of `#`.
    static func histogram(
        _ buckets: [AnswerTimes.Bucket], columns: Int, hasBlocks: Bool
    ) -> [String] {
        let shown = buckets.filter { $0.count > 0 }
        let labelWidth = shown.map(\.label.count).max() ?? 0
        let most = shown.map(\.count).max() ?? 1
        let countWidth = "\(most)".count
        let room = max(4, min(60, max(20, columns) - labelWidth - countWidth - 4))
        return shown.map { bucket in
            let share = Double(bucket.count) / Double(most) * Double(room)
            return right(bucket.label, labelWidth) + "  " + right("\(bucket.count)", countWidth)
                + "  " + (hasBlocks ? blocks(share) : hashes(share))
        }
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// A bar that counts anything is visible, however short.
    private static func hashes(_ length: Double) -> String {
        String(repeating: "#", count: max(1, Int(length.rounded())))
    }

    /// A bar in eighths of a character; see Unicode's Block Elements.
    private static func blocks(_ length: Double) -> String {
        let eighths = max(1, Int((length * 8).rounded()))
        let rest = eighths % 8 == 0 ? "" : widths[eighths % 8 - 1]
        return String(repeating: "█", count: eighths / 8) + rest
    }

    /// Bars of one to seven eighths of a character's width.
    private static let widths = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    /// Bars of none to eight eighths of its height.
    private static let heights = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// How many lines the bars of ``columns(_:width:)`` have.
    private static let height = 5

    /// Numbers as bars side by side, under the largest one; none where there is no room.
    ///
    /// - Parameter width: How wide a line may be.
    static func columns(_ numbers: [Int], width: Int) -> [String] {
        guard let most = numbers.max(), most > 0 else { return [] }
        let label = "\(most)"
        let room = width - label.count - 2
        guard numbers.count <= room else { return [] }
        // With a space between them, if there is room.
        let step = numbers.count * 2 - 1 <= room ? 2 : 1
        let eighths = numbers.map { number in
            number == 0 ? 0 : max(1, number * height * 8 / most)
        }
        return (0..<height).map { line in
            let bars = eighths.map { all in
                heights[min(max(0, all - (height - 1 - line) * 8), 8)]
            }
            let text = bars.joined(separator: step == 2 ? " " : "")
            let margin = line == 0 ? label : String(repeating: " ", count: label.count)
            return (margin + "  " + text).trimmingSuffix { $0 == " " }
        }
    }
}
