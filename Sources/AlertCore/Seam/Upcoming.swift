/// The next alert to show, if there is one.
package struct Upcoming: Sendable {
    package var record: AlertRecord?
    package var expiry: ClockReading?
    /// Whether a cancel was requested from a screen that has not carried it out.
    package var isCancelRequested = false
    /// The alerts that wait after it.
    package var waiting = WaitingAlerts()
    /// Up to a hundred alerts that would have come first, but contradict the log.
    package var refused: [Alert.ID: AlertError] = [:]

    package init(record: AlertRecord? = nil, expiry: ClockReading? = nil) {
        self.record = record
        self.expiry = expiry
    }
}
