/// The next alert to show, if there is one.
package struct Upcoming: Sendable {
    package var record: AlertRecord?
    package var expiry: ClockReading?
    /// Whether somebody has wanted it to be cancelled by a screen that has not done so.
    package var isCancelRequested = false
    /// What waits after it.
    package var waiting = WaitingAlerts()
    /// The alerts that would have come first, but are not what the log says; a hundred at most.
    package var refused: [Alert.ID: AlertError] = [:]

    package init(record: AlertRecord? = nil, expiry: ClockReading? = nil) {
        self.record = record
        self.expiry = expiry
    }
}
