import AlertCore
import FoundationEssentials
import Glibc
import TextFormats

/// The words for who asks, since when and until when, and for the times on offer.
package enum AlertWording {
    /// Who asks: the name that the asker gave, with the account and the host, or the person, that the queue
    /// knows.
    ///
    /// An account of another machine names that: it is what its rights go by.
    static func source(
        _ source: AlertRecord.Source, user: String?, here host: String,
        characters: TerminalCharacters = .all
    ) -> String {
        let user = characters.line(user ?? source.principal.label)
        let other = source.process.map(\.host).flatMap { $0 == host ? nil : $0 }
        let isElsewhere = source.account?.host.isEmpty == true
        let suffix = isElsewhere ? other.map { "@" + characters.line($0) } ?? "" : ""
        return "\(characters.line(source.name)) (\(user)\(suffix))"
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

    /// Who deals with an alert, and until when.
    package static func claim(
        _ claim: AlertClaim, now: Date, characters: TerminalCharacters = .all
    ) -> String {
        "claimed by " + characters.line(claim.by.principal.label) + " until "
            + LocalTime.text(claim.until, .brief(now: now))
    }

    /// That the asker of an alert is gone, and nobody has taken its place.
    static let orphaned = "nobody waits for the answer"

    /// How long an answer may be used that is a yes.
    package static func validity(_ length: Duration) -> String {
        "a yes counts for " + LengthText.text(length)
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
