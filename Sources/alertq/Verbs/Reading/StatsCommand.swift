import AlertPresenters
import AlertQueue
import AlertService
import FoundationEssentials
import TextFormats

/// `alertq stats`: what became of the questions, and how long people took.
struct StatsCommand: SearchingCommand {
    static let name = "stats"
    static let abstract = "Count alerts by how they ended, and show how long people took"
    static let options: [Option<Self>] = [
        .source, .since(), .until(),
        Option(
            "prometheus", \.isPrometheus, help: "Print metrics in the text format of Prometheus"),
        .utc,
    ]
    static let discussion = [
        """
        It counts the alerts that were asked in the given time, by source and by the button that \
        they ended with: answered, expired with a default, cancelled with the cancel button. How \
        long people took is measured from the moment of asking, and from the last time that the \
        alert appeared on a screen; only people's answers count, not those of programs. \
        Percentiles of more than 10,000 answers are accurate to one percent.
        """,
        DateText.past,
        """
        With --json there is one object with the keys “since”, “until”, “source”; “asked”, \
        “waiting”, “answered”, “cancelled”, “dismissed”, “expired”, “withdrawn” and “unseen” (how \
        many expired without having been shown); “sources” and “buttons”, arrays of objects with \
        “name” and the same numbers; “from_asked” and “from_presented”, with “count”, \
        “shortest_ms”, “median_ms”, “p90_ms”, “p99_ms”, “longest_ms” and “histogram”, an array of \
        objects with “from_ms”, “to_ms” and “count”; and “oldest_waiting” (when the oldest waiting \
        alert was asked).
        """,
        """
        --prometheus prints counters, gauges and histograms whose names begin with alertq_, for \
        example into a file for the textfile collector of Prometheus's node_exporter. \
        alertq_screens counts the processes that show the queue's alerts; an asker's own terminal \
        is not counted. alertq_uncollected counts as history --uncollected does, without what its \
        asker withdrew: a notice that was dismissed stays uncollected. All is counted again each \
        time, which takes about two seconds for a million alerts.
        """,
    ]

    /// How many sources and buttons the tables show.
    private static let shown = 20

    var common = QueueOptions()
    var conditions = AlertConditions()
    private var isPrometheus = false

    func validate() throws {
        guard isPrometheus else { return }
        // A counter must only grow, which a count of what was asked in a given time does not.
        try UsageError.refuse([
            "json": isJSON, "since": conditions.since != nil, "until": conditions.until != nil,
        ]) { "--prometheus and \($0) can't be combined" }
    }

    func run(in context: Context) async throws -> ExitCode {
        let source = conditions.source
        let (since, until) = try conditions.times(now: context.now())
        let counted = try await ProgressBar.during("counting", in: context) { bar in
            try await queue.read(in: context) { manager in
                let statistics = try await manager.statistics(
                    source: source, since: since, until: until
                ) { bar.show($0, of: $1) }
                return (
                    statistics, screens: await manager.screens().forAll.count,
                    head: try await manager.auditHead()?.sequence ?? 0
                )
            }
        }
        // Where nobody has asked anything yet, there is nothing to count.
        let (statistics, screens, head) = counted ?? (AlertStatistics(), 0, 0)
        if isJSON {
            try context.print(
                AlertJSON.value(statistics, source: source, since: since, until: until).text())
        } else if isPrometheus {
            // The metrics may end up in a file that is viewed on a terminal, which might obey them.
            let metrics = PrometheusText(
                statistics, screens: screens, head: head, now: context.now(),
                form: .prometheus, escape: SafeText.line)
            try context.output.write(metrics.text)
        } else {
            let heading = Self.heading(source, since, until, in: context)
            try context.output.write(heading + Self.text(statistics, in: context))
        }
        return .done
    }
}

// MARK: - Text

extension StatsCommand {
    /// Which alerts are counted; nothing where it is all of them.
    static func heading(
        _ source: String?, _ since: Date?, _ until: Date?, in context: Context
    ) -> String {
        let time = { (date: Date) in LocalTime.text(date, context.lastingTime) }
        let words = [
            source.map { "of “\(SafeText.line($0))”" }, since.map { "asked since \(time($0))" },
            until.map { (since == nil ? "asked before " : "and before ") + time($0) },
        ].compactMap { $0 }
        guard !words.isEmpty else { return "" }
        return heading((["Alerts"] + words).joined(separator: " "), in: context)
    }

    /// A heading in as many lines as it needs.
    private static func heading(_ text: String, in context: Context) -> String {
        DisplayWidth.wrapped(text, to: context.output.columns ?? .max)
            .map { context.style.bold($0) + "\n" }.joined()
    }

    static func text(_ statistics: AlertStatistics, in context: Context) -> String {
        // One below the other they fit every screen.
        let names = ["asked", "waiting"] + Outcome.allCases.map(\.rawValue)
        let unseen = statistics.total.unseen
        var text = zip(names, numbers(statistics.total)).map { name, number in
            let more =
                switch name {
                case "waiting" where context.output.isTerminal:
                    statistics.oldestWaiting.map {
                        ", the oldest asked " + TimeText.text($0, in: context)
                    } ?? ""
                case Outcome.expired.rawValue where unseen > 0: ", \(unseen) of them unseen"
                default: ""
                }
            let columns = context.output.columns.map { max(10, $0 - 10) } ?? .max
            return DisplayWidth.padded(name, to: 10)
                + DisplayWidth.wrapped(number + more, to: columns)
                .joined(separator: "\n" + String(repeating: " ", count: 10)) + "\n"
        }.joined()
        text += groups("By source", "SOURCE", statistics.sources, hasWaiting: true, in: context)
        text += groups("By button", "BUTTON", statistics.buttons, hasWaiting: false, in: context)
        let times = [
            ("asking", statistics.timeFromAsked),
            ("appearing", statistics.timeFromPresented),
        ].filter { $0.1.count > 0 }
        guard !times.isEmpty else { return text }
        var lengths = Table(
            ["COUNTED FROM", "ANSWERS", "MEDIAN", "90 % WITHIN", "99 % WITHIN", "LONGEST"],
            dropping: ["LONGEST", "ANSWERS"], for: context)
        let rows = times.map { name, times in
            [name, "\(times.count)"]
                + [times.median, times.percentile(90), times.percentile(99), times.longest]
                .map { $0.map(LengthText.text) ?? "-" }
        }
        text += "\n" + heading("How long people took to answer", in: context) + lengths.text(rows)
        let bars = HistogramText.lines(
            statistics.timeFromAsked.histogram, columns: context.output.columns ?? 80)
        text += "\n" + heading("Answers by how long they took from asking", in: context)
        return text + bars.map { $0 + "\n" }.joined()
    }

    private static let outcomeHeadings = [
        "ANSWERED", "CANCELLED", "DISMISSED", "EXPIRED", "WITHDRAWN",
    ]

    private static func groups(
        _ title: String, _ heading: String, _ groups: [AlertStatistics.Group], hasWaiting: Bool,
        in context: Context
    ) -> String {
        guard !groups.isEmpty else { return "" }
        let headings =
            hasWaiting
            ? [heading, "ASKED", "WAITING"] + outcomeHeadings
            : [heading, "ENDED", "ANSWERED", "CANCELLED", "EXPIRED"]
        var table = Table(
            headings.map { .init($0) },
            dropping: ["DISMISSED", "WITHDRAWN", "CANCELLED", "WAITING", "EXPIRED"], for: context)
        let rows = groups.prefix(shown).map { group in
            [group.name] + (hasWaiting ? numbers(group.counts) : chosen(group.counts))
        }
        let more =
            groups.count > shown ? "and \(groups.count - shown) more; --json has them\n" : ""
        return "\n" + self.heading(title, in: context) + table.text(rows) + more
    }

    private static func chosen(_ counts: AlertStatistics.Counts) -> [String] {
        let outcomes: [Outcome] = [.answered, .cancelled, .expired]
        return ["\(counts.asked)"] + outcomes.map { "\(counts.outcomes[$0] ?? 0)" }
    }

    private static func numbers(_ counts: AlertStatistics.Counts) -> [String] {
        ["\(counts.asked)", "\(counts.waiting)"]
            + Outcome.allCases.map { "\(counts.outcomes[$0] ?? 0)" }
    }
}
