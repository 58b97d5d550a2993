import FoundationEssentials
import TextFormats

/// Counts that are not sorted yet.
package struct StatisticsTally: Sendable {
    /// What is counted of a source, a button, a person or a day.
    private struct Part: Sendable {
        var counts = AlertStatistics.Counts()
        var times = AnswerTimes(exactUpTo: 250)
    }

    private typealias Parts = [ExactText: Part]

    private var counted = AlertStatistics()
    private var sources: Parts = [:]
    private var buttons: Parts = [:]
    private var users: Parts = [:]
    /// The beginnings of the days, and the end of the last one.
    private let dates: [Date]
    private let bounds: [Int64]
    private var days: [Part]

    package init(_ query: StatisticsQuery) {
        dates = query.days
        bounds = query.days.map(Timestamp.milliseconds)
        days = Array(repeating: Part(), count: max(0, query.days.count - 1))
    }

    /// The time of asking from which on, and before which, alerts are those of a day; `nil` if no
    /// days are counted.
    package var period: Range<Int64>? {
        guard let start = bounds.first, let end = bounds.last, start < end else { return nil }
        return start..<end
    }

    package var statistics: AlertStatistics {
        var statistics = counted
        statistics.sources = Self.ordered(sources)
        statistics.buttons = Self.ordered(buttons)
        statistics.users = Self.ordered(users)
        statistics.days = days.indices.map { index in
            AlertStatistics.Day(
                start: dates[index], end: dates[index + 1], counts: days[index].counts,
                answers: days[index].times.summary)
        }
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
        Self.change(&sources, source) { $0.counts.add(counts) }
    }

    /// Adds alerts of the day in which they were asked.
    package mutating func addToDay(
        _ count: Int, askedAt time: Int64, _ outcome: Outcome?, isUnseen: Bool
    ) {
        guard let day = day(of: time) else { return }
        days[day].counts.add(Self.counts(count, outcome, isUnseen: isUnseen))
    }

    package mutating func addChoices(
        _ count: Int, of button: String, _ outcome: Outcome, isUnseen: Bool
    ) {
        let counts = Self.counts(count, outcome, isUnseen: isUnseen)
        Self.change(&buttons, button) { $0.counts.add(counts) }
    }

    /// Adds an answer of a person.
    package mutating func addAnswer(
        by user: String, to source: String, askedAt asked: Int64, after time: Int64,
        fromPresented: Int64?
    ) {
        counted.timeFromAsked.add(milliseconds: time)
        if let fromPresented { counted.timeFromPresented.add(milliseconds: fromPresented) }
        Self.change(&sources, source) { $0.times.add(milliseconds: time) }
        let counts = Self.counts(1, .answered, isUnseen: false)
        Self.change(&users, user) { part in
            part.counts.add(counts)
            part.times.add(milliseconds: time)
        }
        if let day = day(of: asked) { days[day].times.add(milliseconds: time) }
    }

    private func day(of time: Int64) -> Int? {
        guard let period, period.contains(time) else { return nil }
        return bounds.firstIndex { time < $0 }.map { $0 - 1 }
    }

    private static func change(
        _ parts: inout Parts, _ name: String, _ body: (inout Part) -> Void
    ) {
        let name = ExactText(name)
        // Names come from outside, and there may be any number of them.
        guard parts[name] != nil || parts.count < AlertStatistics.groupLimit else { return }
        body(&parts[name, default: Part()])
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

    private static func ordered(_ parts: Parts) -> [AlertStatistics.Group] {
        parts.map { name, part in
            AlertStatistics.Group(
                name: name.text, counts: part.counts, answers: part.times.summary)
        }.sorted { ($1.counts.asked, $0.name) < ($0.counts.asked, $1.name) }
    }
}
