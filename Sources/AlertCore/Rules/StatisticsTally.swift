import FoundationEssentials
import TextFormats

/// Counts that are not sorted yet.
package struct StatisticsTally: Sendable {
    private var counted = AlertStatistics()
    private var sources: [ExactText: AlertStatistics.Counts] = [:]
    private var buttons: [ExactText: AlertStatistics.Counts] = [:]

    package init() {}

    package var statistics: AlertStatistics {
        var statistics = counted
        statistics.sources = Self.ordered(sources)
        statistics.buttons = Self.ordered(buttons)
        return statistics
    }

    /// - Parameters:
    ///   - isUnseen: Whether they were never on a screen.
    ///   - uncollected: How many of them have a response that nobody has collected.
    package mutating func addAlerts(
        _ count: Int, of source: String, _ outcome: Outcome?, isUnseen: Bool, uncollected: Int,
        firstAsked: Int64
    ) {
        let asked = Timestamp.date(milliseconds: firstAsked)
        if outcome == nil { counted.oldestWaiting = min(asked, counted.oldestWaiting ?? asked) }
        let counts = Self.counts(count, outcome, isUnseen: isUnseen)
        counted.total.add(counts)
        if let outcome, uncollected > 0 { counted.uncollected[outcome, default: 0] += uncollected }
        Self.add(counts, to: &sources, source)
    }

    package mutating func addChoices(
        _ count: Int, of button: String, _ outcome: Outcome, isUnseen: Bool
    ) {
        Self.add(Self.counts(count, outcome, isUnseen: isUnseen), to: &buttons, button)
    }

    package mutating func addAnswer(fromAsked: Int64, fromPresented: Int64?) {
        counted.timeFromAsked.add(milliseconds: fromAsked)
        if let fromPresented { counted.timeFromPresented.add(milliseconds: fromPresented) }
    }

    private static func add(
        _ counts: AlertStatistics.Counts, to groups: inout [ExactText: AlertStatistics.Counts],
        _ name: String
    ) {
        let name = ExactText(name)
        // Names come from outside, and there may be any number of them.
        guard groups[name] != nil || groups.count < AlertStatistics.groupLimit else { return }
        groups[name, default: AlertStatistics.Counts()].add(counts)
    }

    private static func counts(
        _ count: Int, _ outcome: Outcome?, isUnseen: Bool
    ) -> AlertStatistics.Counts {
        var counts = AlertStatistics.Counts()
        counts.asked = count
        if let outcome { counts.outcomes = [outcome: count] }
        if isUnseen, outcome == .expired { counts.unseen = count }
        return counts
    }

    private static func ordered(
        _ groups: [ExactText: AlertStatistics.Counts]
    ) -> [AlertStatistics.Group] {
        groups.map { AlertStatistics.Group(name: $0.key.text, counts: $0.value) }
            .sorted { ($1.counts.asked, $0.name) < ($0.counts.asked, $1.name) }
    }
}
