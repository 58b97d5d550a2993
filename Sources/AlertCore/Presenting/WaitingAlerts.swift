/// What waits behind the alert on the screen: what could be shown now, and what is critical of it.
public struct WaitingAlerts: Sendable, Hashable {
    /// All of them, counted up to 1,000.
    public var count: Int
    /// Those of ``Alert/Priority/critical`` priority, counted up to 1,000.
    public var critical: Int

    /// Creates a count, for a store or a test of your own.
    public init(count: Int = 0, critical: Int = 0) {
        self.count = count
        self.critical = critical
    }
}
