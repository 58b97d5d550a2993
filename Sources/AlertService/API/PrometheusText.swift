import AlertCore
import FoundationEssentials
import TextFormats

/// Statistics in the text exposition format of Prometheus
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>), or as OpenMetrics
/// (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).
package struct PrometheusText {
    package enum Form: Sendable {
        case prometheus, openMetrics
    }

    private enum Kind: String {
        case counter, gauge, histogram
    }

    package private(set) var text = ""
    private let form: Form

    /// - Parameters:
    ///   - screens: How many processes show the queue's alerts.
    ///   - head: The number of the audit log's last entry, or 0.
    ///   - escape: What a label's value is replaced with before it is quoted.
    package init(
        _ statistics: AlertStatistics, screens: Int, head: Int64, now: Date, form: Form,
        escape: (String) -> String = { $0 }
    ) {
        self.form = form
        let total = statistics.total
        begin("waiting", .gauge, "Alerts that wait")
        add("waiting", "\(total.waiting)")
        begin("oldest_waiting_seconds", .gauge, "Age of the oldest waiting alert, or 0")
        // A damaged row may hold any time.
        let age = statistics.oldestWaiting.map {
            Timestamp.milliseconds(now) - Timestamp.milliseconds($0)
        }
        add("oldest_waiting_seconds", Self.seconds(.milliseconds(max(0, age ?? 0))))
        begin("screens", .gauge, "Processes that show the alerts of this queue")
        add("screens", "\(screens)")
        begin("asked_total", .counter, "Alerts that were asked")
        add("asked_total", "\(total.asked)")
        begin("ended_total", .counter, "Alerts that have ended, by outcome")
        for outcome in Outcome.allCases {
            let count = total.outcomes[outcome] ?? 0
            add("ended_total", "\(count)", [("outcome", outcome.rawValue)])
        }
        begin("expired_unseen_total", .counter, "Alerts that expired without having been shown")
        add("expired_unseen_total", "\(total.unseen)")
        begin("uncollected", .gauge, "Responses that nobody has collected, by outcome")
        // What its asker took back, nobody will collect.
        for outcome in Outcome.allCases where outcome != .withdrawn {
            let count = statistics.uncollected[outcome] ?? 0
            add("uncollected", "\(count)", [("outcome", outcome.rawValue)])
        }
        var sources: [(name: String, counts: AlertStatistics.Counts)] = []
        for (name, counts) in statistics.sources.map({ (escape($0.name), $0.counts) }) {
            // Two names may look the same then, and a series must not occur twice.
            if let place = sources.firstIndex(where: { $0.name.isIdentical(to: name) }) {
                sources[place].counts.add(counts)
            } else {
                sources.append((name, counts))
            }
        }
        addSources(sources)
        addTimes(
            "answer_seconds", "How long people took to answer, from asking",
            statistics.timeFromAsked)
        addTimes(
            "answer_from_shown_seconds",
            "How long people took to answer, from when the alert last appeared",
            statistics.timeFromPresented)
        begin("log_head_sequence", .gauge, "The number of the last entry of the audit log, or 0")
        add("log_head_sequence", "\(head)")
        if form == .openMetrics { text += "# EOF\n" }
    }

    private mutating func addSources(_ sources: [(name: String, AlertStatistics.Counts)]) {
        guard !sources.isEmpty else { return }
        begin("source_waiting", .gauge, "Alerts of a source that wait")
        for (name, counts) in sources {
            add("source_waiting", "\(counts.waiting)", [("source", name)])
        }
        begin("source_asked_total", .counter, "Alerts that a source has asked")
        for (name, counts) in sources {
            add("source_asked_total", "\(counts.asked)", [("source", name)])
        }
        begin("source_ended_total", .counter, "Alerts of a source that have ended, by outcome")
        for (name, counts) in sources {
            for outcome in Outcome.allCases {
                add(
                    "source_ended_total", "\(counts.outcomes[outcome] ?? 0)",
                    [("source", name), ("outcome", outcome.rawValue)])
            }
        }
    }

    private mutating func addTimes(_ name: String, _ help: String, _ times: AnswerTimes) {
        begin(name, .histogram, help)
        var count = 0
        // A bucket ends a millisecond before the bound that “le” includes.
        for bucket in times.histogram {
            count += bucket.count
            add(name + "_bucket", "\(count)", [("le", bucket.to.map(Self.seconds) ?? "+Inf")])
        }
        add(name + "_sum", Self.seconds(times.sum))
        add(name + "_count", "\(times.count)")
    }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        // There a counter's name is one without the end that its numbers have.
        let name = form == .openMetrics && kind == .counter ? String(name.dropLast(6)) : name
        text += "# HELP alertq_\(name) \(help).\n# TYPE alertq_\(name) \(kind.rawValue)\n"
    }

    private mutating func add(
        _ name: String, _ value: String, _ labels: [(name: String, value: String)] = []
    ) {
        let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
        let list = pairs.isEmpty ? "" : "{" + pairs.joined(separator: ",") + "}"
        text += "alertq_\(name)\(list) \(value)\n"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// A length of time in seconds, with as many decimals as it needs.
    private static func seconds(_ duration: Duration) -> String {
        let (seconds, rest) = duration.milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard rest > 0 else { return "\(seconds)" }
        return "\(seconds)." + "\(1000 + rest)".dropFirst()
    }
}
