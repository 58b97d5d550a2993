import FoundationEssentials
import TextFormats

extension AlertJSON {
    /// The object for statistics of the alerts that conditions choose.
    package static func value(
        _ statistics: AlertStatistics, source: String?, since: Date?, until: Date?
    ) -> JSONValue {
        .object(
            [
                ("since", date(since)), ("until", date(until)),
                ("source", .optional(source)),
            ] + members(statistics.total) + [
                ("sources", .array(statistics.sources.map(value))),
                ("buttons", .array(statistics.buttons.map(counts))),
                ("users", .array(statistics.users.map(user))),
                ("days", .array(statistics.days.map(value))),
                ("from_asked", value(statistics.timeFromAsked)),
                ("from_presented", value(statistics.timeFromPresented)),
                ("oldest_waiting", date(statistics.oldestWaiting)),
            ])
    }

    private static func members(
        _ counts: AlertStatistics.Counts
    ) -> [(key: String, value: JSONValue)] {
        [("asked", .integer(Int64(counts.asked))), ("waiting", .integer(Int64(counts.waiting)))]
            + Outcome.allCases.map {
                ($0.rawValue, .integer(Int64(counts.outcomes[$0] ?? 0)))
            } + [("unseen", .integer(Int64(counts.unseen)))]
    }

    private static func counts(_ group: AlertStatistics.Group) -> JSONValue {
        .object([("name", .string(group.name))] + members(group.counts))
    }

    private static func value(_ group: AlertStatistics.Group) -> JSONValue {
        .object(
            [("name", .string(group.name))] + members(group.counts) + members(group.answers))
    }

    private static func user(_ group: AlertStatistics.Group) -> JSONValue {
        .object([("name", .string(group.name))] + members(group.answers))
    }

    private static func value(_ day: AlertStatistics.Day) -> JSONValue {
        .object(
            [("from", date(day.start)), ("to", date(day.end))] + members(day.counts)
                + members(day.answers))
    }

    private static func members(
        _ answers: AnswerTimes.Summary
    ) -> [(key: String, value: JSONValue)] {
        [
            ("answers", .integer(Int64(answers.count))),
            ("median_ms", .optional(answers.median?.milliseconds)),
            ("p90_ms", .optional(answers.percentile90?.milliseconds)),
        ]
    }

    private static func value(_ times: AnswerTimes) -> JSONValue {
        let length = { (duration: Duration?) in JSONValue.optional(duration?.milliseconds) }
        return .object([
            ("count", .integer(Int64(times.count))), ("shortest_ms", length(times.shortest)),
            ("median_ms", length(times.median)), ("p90_ms", length(times.percentile(90))),
            ("p99_ms", length(times.percentile(99))), ("longest_ms", length(times.longest)),
            (
                "histogram",
                .array(
                    times.histogram.map { bucket in
                        .object([
                            ("from_ms", length(bucket.from)), ("to_ms", length(bucket.to)),
                            ("count", .integer(Int64(bucket.count))),
                        ])
                    })
            ),
        ])
    }
}
