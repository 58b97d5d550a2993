import AlertQueue
import FoundationEssentials
import TextFormats

/// The conditions for alerts that wait, with their times as seen from a moment.
struct WaitingFilter {
    let source: String?
    private let key: String?
    private let since: Date?
    private let until: Date?
    private let words: SearchText?

    init(_ conditions: AlertConditions, now: Date) throws {
        source = conditions.source
        key = conditions.key
        (since, until) = try conditions.times(now: now)
        words = try conditions.text.map { try SearchText($0) }
    }

    /// Whether it lets everything through.
    var isOpen: Bool { source == nil && hasNoOther }

    private var hasNoOther: Bool {
        key == nil && since == nil && until == nil && words == nil
    }

    /// Those alerts of its source that it lets through.
    func matches(_ records: [AlertRecord]) -> [AlertRecord] {
        guard !hasNoOther else { return records }
        let found = records.filter { record in
            key.map { record.alert.key.isIdentical(to: $0) } ?? true
                && since.map { $0 <= record.askedAt } ?? true
                && until.map { $0 > record.askedAt } ?? true
        }
        return words.map { words in found.filter(words.matches) } ?? found
    }
}
