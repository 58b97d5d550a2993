/// Which alert a screen may show next.
package struct ScreenQuery: Sendable, Hashable {
    /// The names of the presenters, one of which has to be allowed to show it.
    package var presenters: [String]
    /// The only alert that may be shown; `nil` for any.
    package var only: Alert.ID?
    /// The alerts that are passed over, in ascending order.
    package var except: [Alert.ID]
    /// Whether an alert with buttons comes first, if there is one.
    package var prefersQuestions: Bool

    package init(
        for presenters: [String], only: Alert.ID? = nil, except: [Alert.ID] = [],
        prefersQuestions: Bool = false
    ) {
        self.presenters = presenters
        self.only = only
        self.except = except
        self.prefersQuestions = prefersQuestions
    }
}

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
