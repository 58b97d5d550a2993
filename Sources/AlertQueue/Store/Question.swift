/// An alert on its way into the store.
package struct Question: Sendable {
    package var alert: Alert
    package var source: String
    package var caller: Caller
    package var pendingLimit: Int
    package var accountLimit: Int

    package init(
        alert: Alert, source: String, caller: Caller,
        pendingLimit: Int = Alert.Limit.pendingPerSource,
        accountLimit: Int = Alert.Limit.pendingPerAccount
    ) {
        self.alert = alert
        self.source = source
        self.caller = caller
        self.pendingLimit = pendingLimit
        self.accountLimit = accountLimit
    }
}

/// What became of a question.
package struct Enqueued: Sendable {
    package var record: AlertRecord
    /// Whether the key found an alert that had been asked before.
    package var isJoined: Bool
    /// The deadline on all clocks, if there is one.
    package var expiry: ClockReading?
    /// The newest audit entry when it was stored: what happens to the alert comes after it.
    package var sequence: Int64
}
