import FoundationEssentials
import TextFormats

extension Alert {
    /// The alert as every reader of its record sees it: with the asker's name, without closures, in
    /// whole milliseconds, and with its deadline as a moment.
    package func recorded(source: String, expiry: ClockReading?) -> Alert {
        var alert = self
        for property in AlertProperty.normalized { property.copy(from: self, to: &alert) }
        alert.source = source
        alert.deadline = expiry.map { .at(Timestamp.date(milliseconds: $0.wallMilliseconds)) }
        return alert
    }
}
