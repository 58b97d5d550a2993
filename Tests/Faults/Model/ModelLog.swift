import Foundation
import ProcessTesting

/// The events of a queue's log, in order: the model's state at every position.
///
/// A position is the number of the last entry so far; 0 is the empty queue. The model is simple on
/// purpose: an alert is asked, snoozed any number of times, resolved once and collected once.
struct ModelLog {
    struct Entry {
        var at: Int64
        var event: String
        var alert: Int64
        var outcome: String
        var index: Int?
        var pid: Int32
    }

    /// One alert's positions; `nil` for events that have not happened.
    struct Story {
        var asked: Int
        var resolved: Int?
        var collected: Int?
        var snoozed: [Int] = []
        var title: String
        var key: String
        var isOther: Bool
        var expires: Int64?

        /// The positions at which it waits.
        func waiting(_ end: Int) -> Range<Int> { asked..<(resolved ?? end) }
    }

    private(set) var entries: [Entry] = []
    private(set) var stories: [Int64: Story] = [:]
    /// How many wait, at each position.
    private(set) var pending: [Int] = [0]
    /// The resolutions in order: position, time, alert.
    private(set) var resolutions: [(position: Int, at: Int64, alert: Int64)] = []
    private(set) var keys: [String: Int64] = [:]
    private(set) var withDeadline: [Int64] = []
    /// The contradictions within the log itself.
    private(set) var violations: [String] = []

    /// One beyond the last position.
    var end: Int { entries.count + 1 }

    init(entries: [Entry], alerts: [Int64: Story]) {
        self.entries = entries
        stories = alerts
        for (offset, entry) in entries.enumerated() { add(entry, at: offset + 1) }
        for (id, story) in stories {
            if story.asked == 0 { violations.append("alert \(id) was never asked") }
            if !story.key.isEmpty, keys.updateValue(id, forKey: story.key) != nil {
                violations.append("two alerts have the key \(story.key)")
            }
            if story.expires != nil { withDeadline.append(id) }
        }
        withDeadline.sort()
    }

    /// Reads the queue's tables.
    static func read(_ queue: CommandLineQueue) async throws -> ModelLog {
        let entries = try await queue.rows(
            """
            SELECT at_ms, event, alert_id, coalesce(outcome, ''), coalesce(button_index, ''), pid
            FROM audit ORDER BY seq
            """
        ).map { row in
            let fields = row.split(separator: "|", omittingEmptySubsequences: false)
            return Entry(
                at: Int64(fields[0]) ?? 0, event: String(fields[1]),
                alert: Int64(fields[2]) ?? 0, outcome: String(fields[3]), index: Int(fields[4]),
                pid: Int32(fields[5]) ?? 0)
        }
        let alerts = try await queue.rows(
            """
            SELECT id, title, coalesce(key, ''), message IS NOT NULL, coalesce(expires_ms, '')
            FROM alerts
            """
        ).map { row in
            let fields = row.split(separator: "|", omittingEmptySubsequences: false)
            return (
                Int64(fields[0]) ?? 0,
                Story(
                    asked: 0, title: String(fields[1]), key: String(fields[2]),
                    isOther: fields[3] == "1", expires: Int64(fields[4]))
            )
        }
        return ModelLog(entries: entries, alerts: Dictionary(alerts) { first, _ in first })
    }

    private mutating func add(_ entry: Entry, at position: Int) {
        var waiting = pending[position - 1]
        defer { pending.append(waiting) }
        let id = entry.alert
        guard var story = stories[id] else {
            return violations.append("entry \(position) is about an unknown alert")
        }
        let isAsked = story.asked > 0
        switch entry.event {
        case "asked" where !isAsked:
            story.asked = position
            waiting += 1
        case "snoozed" where isAsked && story.resolved == nil:
            story.snoozed.append(position)
        case "resolved" where isAsked && story.resolved == nil:
            story.resolved = position
            resolutions.append((position, entry.at, id))
            waiting -= 1
            // The boot clock decides; the milliseconds of the wall clock are not aligned with it.
            let isEarly = entry.outcome == "expired" && entry.at + 2 < story.expires ?? .max
            if isEarly { violations.append("alert \(id) expired before its deadline") }
        case "collected" where story.resolved != nil && story.collected == nil:
            story.collected = position
        default:
            violations.append("entry \(position), \(entry.event) of alert \(id), is impossible")
        }
        stories[id] = story
    }

    /// The newest resolutions at a position, as a history lists them.
    func history(at position: Int, limit: Int) -> [Int64] {
        var (low, high) = (0, resolutions.count)
        while low < high {
            let middle = (low + high) / 2
            if resolutions[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        // Entries of several processes are almost in the order of their times.
        let recent = resolutions[max(0, low - limit - 200)..<low]
        return recent.sorted { ($0.at, $0.position) > ($1.at, $1.position) }
            .prefix(limit).map(\.alert)
    }
}
