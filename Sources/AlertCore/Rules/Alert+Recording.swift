import FoundationEssentials
import TextFormats

extension Alert {
    /// The alert as every reader of its record sees it: with the asker's name, without closures, in
    /// whole milliseconds, and with its deadline as a moment.
    package func recorded(source: String, expiry: ClockReading?) -> Alert {
        var alert = self
        alert.source = source
        alert.fields = fields.map(\.normalized)
        alert.buttons = buttons.map { Button($0.title, id: $0.id, role: $0.role) }
        alert.dismissAfter = dismissAfter.map { .milliseconds($0.milliseconds) }
        alert.snooze = snooze.map { .milliseconds($0.milliseconds) }
        alert.validFor = validFor.map { .milliseconds($0.milliseconds) }
        alert.deadline = expiry.map { .at(Timestamp.date(milliseconds: $0.wallMilliseconds)) }
        return alert
    }
}
