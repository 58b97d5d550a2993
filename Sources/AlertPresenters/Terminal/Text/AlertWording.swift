import AlertCore
import FoundationEssentials
import Glibc

/// The words for who asks, since when and until when, and for how an alert ended.
enum AlertWording {
    /// Who asks: the name that the asker gave, with the account and the host that the system knows.
    static func source(
        _ source: AlertRecord.Source, user: String?, here host: String
    ) -> String {
        let user = user.map(SafeText.line) ?? "uid \(source.uid)"
        let suffix = source.host == host ? "" : "@" + SafeText.line(source.host)
        return "\(SafeText.line(source.name)) (\(user)\(suffix))"
    }

    /// How long ago something happened; after the clock was set back, it is "just now".
    static func age(_ seconds: Double) -> String {
        switch seconds {
        case ..<60: "just now"
        case ..<3600: "\(Int(seconds / 60)) min ago"
        case ..<86_400: "\(Int(seconds / 3600)) h ago"
        case ..<172_800: "yesterday"
        case ..<1e9: "\(Int(seconds / 86_400)) days ago"
        default: "long ago"
        }
    }

    /// How many alerts wait, counted up to 1,000.
    static func waiting(_ waiting: WaitingAlerts) -> String? {
        let text: String
        switch waiting.count {
        case ..<1: return nil
        case 1: text = "1 more waits"
        case ..<1000: text = "\(waiting.count) more wait"
        default: text = "1,000+ more wait"
        }
        guard waiting.critical > 0 else { return text }
        return text + (waiting.critical < 1000 ? ", \(waiting.critical) critical" : ", critical")
    }

    /// A length of time in its one or two largest units: `1 h 30 min`.
    static func duration(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        var left = seconds
        var parts: [String] = []
        for (length, name) in units {
            if left >= length { parts.append("\(left / length) \(name)") }
            left %= length
        }
        return parts.isEmpty ? "0 s" : parts.prefix(2).joined(separator: " ")
    }

    /// The rest of a time that runs out, in minutes and seconds.
    static func countdown(_ duration: Duration) -> String {
        let seconds = max(0, (duration.milliseconds + 999) / 1000)
        let rest = seconds % 60
        return "\(seconds / 60):" + (rest < 10 ? "0" : "") + "\(rest)"
    }

    /// When an alert ends by itself: a countdown in its last hour, a time of day before that.
    static func ending(
        in duration: Duration, at date: Date, now: Date, defaultTitle: String?
    ) -> String {
        if duration > .seconds(3600) {
            return until(date, now: now, defaultTitle: defaultTitle)
        }
        return countdown(duration) + " left" + then(defaultTitle)
    }

    /// When an alert ends by itself, as a time of day.
    static func until(_ date: Date, now: Date, defaultTitle: String?) -> String {
        "until " + LocalTime.text(date, .brief(now: now)) + then(defaultTitle)
    }

    private static func then(_ defaultTitle: String?) -> String {
        defaultTitle.map { ", then “\($0)”" } ?? ""
    }

    /// When an alert without buttons leaves the screen.
    static func closing(in duration: Duration) -> String {
        duration > .seconds(3600)
            ? "closes by itself" : "closes in " + countdown(duration)
    }

    /// How an alert ended, as lines that stay on the screen.
    static func resolved(
        _ title: String, isQuestion: Bool, response: Response, choseHere: Bool, columns: Int
    ) -> [String] {
        guard choseHere else {
            let ending = Ending(response, isQuestion: isQuestion).text(.brief(now: Date()))
            return lines("•", title, ending, columns: columns)
        }
        let what = response.button.map { SafeText.title($0.title) }
        return lines("✓", title, what ?? "closed", columns: columns)
    }

    /// The note that a choice came too late, as lines below how the alert ended.
    static func lost(_ title: String, columns: Int) -> [String] {
        let text = "your choice “" + SafeText.title(title) + "” came too late and was not stored"
        return DisplayWidth.wrapped(text, to: max(1, columns - 3)).map { "  " + $0 }
    }

    /// Until when an alert was snoozed, as lines that stay on the screen.
    static func snoozed(
        _ title: String, until date: Date, expiry: Date?, now: Date, columns: Int
    ) -> [String] {
        lines(
            "•", title, "snoozed until " + snooze(until: date, expiry: expiry, now: now),
            columns: columns)
    }

    /// The end of a snooze, with the deadline if that comes first.
    static func snooze(until date: Date, expiry: Date?, now: Date) -> String {
        guard let expiry, expiry < date else { return LocalTime.text(date, .brief(now: now)) }
        return LocalTime.text(date, .brief(now: now)) + ", but it expires at "
            + LocalTime.text(expiry, .brief(now: now))
    }

    /// The message of an alert without buttons, which may leave the screen before it is read, as
    /// lines that stay below its title.
    static func message(_ text: String, columns: Int) -> [String] {
        let lines = DisplayWidth.wrapped(SafeText.message(text), to: max(1, columns - 3))
        let shown = lines.count <= messageLines ? lines : Array(lines.prefix(messageLines - 1))
        let missing = lines.count - shown.count
        return (shown + (missing > 0 ? ["… \(missing) more lines"] : [])).map { "  " + $0 }
    }

    /// How many lines of a message stay: one alert must not fill the log of a terminal.
    private static let messageLines = 12

    /// The note that a choice could not be stored, as lines that stay on the screen.
    static func failed(_ title: String, error: AlertError, columns: Int) -> [String] {
        lines("✗", title, "not stored: " + SafeText.line(error.description), columns: columns)
    }

    /// A single line if possible. The title is shortened first: how the alert ended is the news.
    private static func lines(
        _ sign: String, _ title: String, _ rest: String, columns: Int
    ) -> [String] {
        let (title, room) = (SafeText.title(title), columns - DisplayWidth.of(rest) - 5)
        // If not even the beginning of the title fits on the line, the rest takes more lines.
        let width = room >= min(16, DisplayWidth.of(title)) ? room : max(16, columns - 4)
        let text = sign + " " + DisplayWidth.truncated(title, to: width) + " — " + rest
        return DisplayWidth.wrapped(text, to: columns)
    }

    /// The times that "later" offers; only the first can be after the deadline.
    static func laterOptions(
        snooze: Duration?, expiry: Duration?, now: Date
    ) -> [AlertInteraction.LaterOption] {
        let own = snooze ?? .seconds(300)
        let morning = morning(after: now)
        let timeToMorning = Duration.seconds(morning.date.timeIntervalSince(now))
        let others: [(title: String, time: Duration, end: Alert.Deadline)] = [
            ("1 h", .seconds(3600), .after(.seconds(3600))),
            ("4 h", .seconds(4 * 3600), .after(.seconds(4 * 3600))),
            (morning.title, timeToMorning, .at(morning.date)),
        ]
        let isTooLong = expiry.map { own >= $0 } == true
        let title = duration(own) + (isTooLong ? " (expires first)" : "")
        let offered = others.filter { option in
            option.time != own && expiry.map { option.time < $0 } != false
        }
        return [.init(title: title, end: nil, isTooLong: isTooLong)]
            + offered.map { .init(title: $0.title, end: $0.end) }
    }

    /// The next eight o'clock. See mktime(3).
    private static func morning(after now: Date) -> (title: String, date: Date) {
        var time = LocalTime.fields(now)
        let isToday = time.tm_hour < 8
        time.tm_mday += isToday ? 0 : 1
        time.tm_hour = 8
        time.tm_min = 0
        time.tm_sec = 0
        time.tm_isdst = -1  // Summer time may begin or end in between.
        let date = Date(timeIntervalSince1970: Double(mktime(&time)))
        return (isToday ? "today 8:00" : "tomorrow 8:00", date)
    }
}
