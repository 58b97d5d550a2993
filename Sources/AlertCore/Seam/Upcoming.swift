/// The next alert to show, if there is one.
package struct Upcoming: Sendable, Codable {
    package var record: AlertRecord?
    /// The time until its deadline; `nil` if it has none.
    package var timeLeft: Duration?
    /// Whether a cancel was requested from a screen that has not carried it out.
    package var isCancelRequested = false
    /// The alerts that wait after it.
    package var waiting = WaitingAlerts()
    /// Up to a hundred alerts that would have come first, but contradict the log.
    package var refused: [Alert.ID: AlertError] = [:]

    package init(record: AlertRecord? = nil, timeLeft: Duration? = nil) {
        self.record = record
        self.timeLeft = timeLeft
    }
}
