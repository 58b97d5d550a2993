/// An alert on its way into the store.
package struct Question: Sendable, Codable {
    package var alert: Alert
    package var source: String
    /// How many alerts may wait for its source, and how many for its account.
    package var pendingLimit: Int
    package var accountLimit: Int

    package init(
        alert: Alert, source: String,
        pendingLimit: Int = Alert.Limit.pendingPerSource,
        accountLimit: Int = Alert.Limit.pendingPerAccount
    ) {
        self.alert = alert
        self.source = source
        self.pendingLimit = pendingLimit
        self.accountLimit = accountLimit
    }
}
