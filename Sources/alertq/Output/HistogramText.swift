import AlertQueue
import TextFormats

/// A histogram as lines of text, one a bar.
enum HistogramText {
    /// The bars from the first to the last that counts anything; none for no counts.
    ///
    /// - Parameter columns: How wide a line may be; less than 20 counts as 20.
    static func lines(_ buckets: [AnswerTimes.Bucket], columns: Int) -> [String] {
        guard let first = buckets.firstIndex(where: { $0.count > 0 }),
            let last = buckets.lastIndex(where: { $0.count > 0 })
        else { return [] }
        let shown = buckets[first...last]
        let labels = shown.map(label)
        let labelWidth = labels.map(\.count).max() ?? 0
        let most = shown.map(\.count).max() ?? 1
        let countWidth = "\(most)".count
        let room = max(4, min(60, max(20, columns) - labelWidth - countWidth - 4))
        return zip(shown, labels).map { bucket, label in
            let share = Double(bucket.count) / Double(most)
            // A bar that counts anything is visible, however short.
            let length = bucket.count == 0 ? 0 : max(1, Int((share * Double(room)).rounded()))
            let count = "\(bucket.count)"
            return padding(labelWidth - label.count) + label + "  "
                + padding(countWidth - count.count) + count
                + (length == 0 ? "" : "  " + String(repeating: "#", count: length))
        }
    }

    private static func label(_ bucket: AnswerTimes.Bucket) -> String {
        guard let to = bucket.to.map(LengthText.bound) else {
            let from = LengthText.bound(bucket.from)
            return "over \(from.number) \(from.unit)"
        }
        guard bucket.from > .zero else { return "under \(to.number) \(to.unit)" }
        let from = LengthText.bound(bucket.from)
        return from.unit == to.unit
            ? "\(from.number)-\(to.number) \(to.unit)"
            : "\(from.number) \(from.unit)-\(to.number) \(to.unit)"
    }

    private static func padding(_ count: Int) -> String { String(repeating: " ", count: count) }
}
