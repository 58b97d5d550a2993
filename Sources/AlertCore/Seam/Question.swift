/// An alert on its way into the store.
package struct Question: Sendable, Codable {
    package var alert: Alert
    package var source: String
    /// How many alerts may wait for its source, and how many for its principal.
    package var pendingLimit: Int
    package var principalLimit: Int
    /// Whether its asker waits for the response, with a claim for as long as it does.
    package var isAwaited: Bool
    /// Whether it may take the place of the earlier question with its key.
    package var replaces: Bool

    package init(
        alert: Alert, source: String, isAwaited: Bool = false, replaces: Bool = false,
        pendingLimit: Int = Alert.Limit.pendingPerSource,
        principalLimit: Int = Alert.Limit.pendingPerPrincipal
    ) {
        self.alert = alert
        self.source = source
        self.isAwaited = isAwaited
        self.replaces = replaces
        self.pendingLimit = pendingLimit
        self.principalLimit = principalLimit
    }
}
