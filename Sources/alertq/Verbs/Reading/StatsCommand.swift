import AlertPresenters
import AlertQueue
import AlertService
import FoundationEssentials
import Glibc
import Linux
import TextFormats

/// `alertq stats`: what became of the questions, and how long people took.
struct StatsCommand: SearchingCommand {
    static let name = "stats"
    static let abstract = "Count alerts by how they ended, and show how long people took"
    static let options: [Option<Self>] = [
        .source, .since(), .until(),
        Option(
            "by", .word, \.grouping,
            help: "Print the numbers of each day, source or user (who answered) as a table"),
        Option(
            "svg", .path("FILE", ifEmpty: "the path is empty"), \.drawing,
            help: "Draw the numbers into this file, in SVG; “-” prints that"),
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
        Days are those of your time zone, or of UTC with --utc: without --since the last 30, and 366 \
        at most. On a terminal of 40 columns or more, the numbers are drawn as well.
        """,
        """
        With --json there is one object with the keys “since”, “until”, “source”; “asked”, \
        “waiting”, “answered”, “cancelled”, “dismissed”, “expired”, “withdrawn” and “unseen” (how \
        many expired without having been shown); “sources” and “buttons”, arrays of objects with \
        “name” and the same numbers; “users”, one for each person who answered; “days”, with “from” \
        and “to”; of sources, users and days also “answers”, “median_ms” and “p90_ms”; “from_asked” and “from_presented”, with “count”, \
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
    private var grouping: Grouping?
    private var drawing: String?

    /// What `--by` takes.
    enum Grouping: String, CaseIterable, Sendable { case day, source, user }

    func validate() throws {
        let forms = [
            "--json": isJSON, "--prometheus": isPrometheus, "--by": grouping != nil,
            "--svg": drawing != nil,
        ].filter(\.value).keys.sorted()
        guard forms.count < 2 else {
            throw UsageError("\(forms[0]) and \(forms[1]) can't be combined")
        }
        guard isPrometheus else { return }
        // A counter must only grow, which a count of what was asked in a given time does not.
        try UsageError.refuse([
            "since": conditions.since != nil, "until": conditions.until != nil,
        ]) { "--prometheus and \($0) can't be combined" }
    }

    func run(in context: Context) async throws -> ExitCode {
        let source = conditions.source
        let (since, until) = try conditions.times(now: context.now())
        let days = StatisticsDays(
            since: since, until: until, now: context.now(), inUTC: context.isUTC)
        let counted = try await ProgressBar.during("counting", in: context) { bar in
            try await queue.read(in: context) { manager in
                let statistics = try await manager.statistics(
                    source: source, since: since, until: until,
                    days: isPrometheus ? [] : days.bounds
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
        } else if let grouping {
            try context.output.write(Self.table(statistics, by: grouping, days, in: context))
        } else if let drawing {
            let title = Self.title(source, since, until, in: context)
            try Self.write(
                StatisticsDrawing(statistics, days, title: title).svg, to: drawing, in: context)
        } else {
            let title = Self.title(source, since, until, in: context)
            let heading = title == Self.allAlerts ? "" : Self.heading(title, in: context)
            try context.output.write(heading + Self.text(statistics, days, in: context))
        }
        return .done
    }
}

// MARK: - Text

extension StatsCommand {
    private static let allAlerts = "Alerts"

    /// Which alerts are counted.
    static func title(
        _ source: String?, _ since: Date?, _ until: Date?, in context: Context
    ) -> String {
        let time = { (date: Date) in LocalTime.text(date, context.lastingTime) }
        let words = [
            source.map { "of “\(SafeText.line($0))”" }, since.map { "asked since \(time($0))" },
            until.map { (since == nil ? "asked before " : "and before ") + time($0) },
        ].compactMap { $0 }
        return ([allAlerts] + words).joined(separator: " ")
    }

    /// Writes a file, or prints the text.
    private static func write(_ text: String, to path: String, in context: Context) throws {
        guard path != "-" else { return try context.output.write(text) }
        do throws(LinuxError) {
            let file = try Descriptor(
                open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666), "open")
            guard file.write(text.utf8) else { throw .current("write") }
        } catch {
            throw CommandError(.inputOutput, "can't write \(path): \(error.reason)")
        }
    }

    /// A heading in as many lines as it needs.
    private static func heading(_ text: String, in context: Context) -> String {
        DisplayWidth.wrapped(text, to: context.output.columns ?? .max)
            .map { context.style.bold($0) + "\n" }.joined()
    }

    static func text(
        _ statistics: AlertStatistics, _ days: StatisticsDays, in context: Context
    ) -> String {
        // One below the other they fit every screen.
        let names = ["asked", "waiting"] + Outcome.allCases.map(\.rawValue)
        let unseen = statistics.total.unseen
        // People look for what there is; programs count lines.
        let totals = zip(names, numbers(statistics.total)).filter { name, number in
            !context.output.isTerminal || number != "0" || name == "asked"
        }
        let width = context.output.isTerminal ? totals.map(\.1.count).max() ?? 0 : 0
        var text = totals.map { name, number in
            let number = String(repeating: " ", count: max(0, width - number.count)) + number
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
        text += daysText(statistics, days, in: context)
        text += groups("By source", "SOURCE", statistics.sources, hasWaiting: true, in: context)
        text += groups("By button", "BUTTON", statistics.buttons, hasWaiting: false, in: context)
        let times = [
            ("asking", statistics.timeFromAsked),
            ("appearing", statistics.timeFromPresented),
        ].filter { $0.1.count > 0 }
        guard !times.isEmpty else { return text }
        var lengths = Table(
            ["COUNTED FROM"]
                + ["ANSWERS", "MEDIAN", "90 % WITHIN", "99 % WITHIN", "LONGEST"].map(Self.number),
            dropping: ["LONGEST", "ANSWERS"], for: context)
        let rows = times.map { name, times in
            [name, "\(times.count)"]
                + [times.median, times.percentile(90), times.percentile(99), times.longest]
                .map { $0.map(LengthText.text) ?? "-" }
        }
        text += "\n" + heading("How long people took to answer", in: context) + lengths.text(rows)
        let bars = BarText.histogram(
            statistics.timeFromAsked.histogram, columns: context.output.columns ?? 80,
            hasBlocks: context.output.isTerminal)
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
            [Table.Column(headings[0])] + headings.dropFirst().map(number),
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

// MARK: - Days, and tables by themselves

extension StatsCommand {
    private static func number(_ heading: String) -> Table.Column { .init(heading, .numbers) }

    /// The questions of each day, where there is room.
    private static func daysText(
        _ statistics: AlertStatistics, _ days: StatisticsDays, in context: Context
    ) -> String {
        guard let columns = context.output.columns, columns >= 40 else { return "" }
        let shown = statistics.days.suffix(columns - 10)
        let lines = BarText.columns(shown.map(\.counts.asked), width: columns)
        guard !lines.isEmpty, let first = shown.first, let last = shown.last else { return "" }
        let names = "\(days.name(of: first)) to \(days.name(of: last))"
        return "\n" + heading("Questions a day, \(names)", in: context)
            + lines.map { $0 + "\n" }.joined()
    }

    /// The numbers of each day, source or user.
    static func table(
        _ statistics: AlertStatistics, by grouping: Grouping, _ days: StatisticsDays,
        in context: Context
    ) -> String {
        let endings = ["ASKED", "WAITING"] + outcomeHeadings
        let lengths = ["ANSWERS", "MEDIAN", "90 % WITHIN"]
        let (counted, rows): ([String], [[String]]) =
            switch grouping {
            case .day:
                (
                    endings + lengths,
                    statistics.days.map {
                        [days.name(of: $0)] + numbers($0.counts) + texts($0.answers)
                    }
                )
            case .source:
                (
                    endings + lengths,
                    statistics.sources.map { [$0.name] + numbers($0.counts) + texts($0.answers) }
                )
            case .user: (lengths, statistics.users.map { [$0.name] + texts($0.answers) })
            }
        var table = Table(
            [Table.Column(grouping.rawValue.uppercased())] + counted.map(number),
            dropping: ["DISMISSED", "WITHDRAWN", "CANCELLED", "WAITING", "EXPIRED", "ANSWERED"],
            for: context)
        return table.text(rows)
    }

    private static func texts(_ answers: AnswerTimes.Summary) -> [String] {
        ["\(answers.count)"]
            + [answers.median, answers.percentile90].map { $0.map(LengthText.text) ?? "-" }
    }
}
