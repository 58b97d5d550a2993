/// The alerts that wait after the one on the screen and could be shown now.
public struct WaitingAlerts: Sendable, Hashable, Codable {
    /// The number of these alerts, counted up to 1,000.
    public var count: Int
    /// How many of them have ``Alert/Priority/critical`` priority, counted up to 1,000.
    public var critical: Int

    /// Creates counts, for a store or a test of your own.
    public init(count: Int = 0, critical: Int = 0) {
        self.count = count
        self.critical = critical
    }
}
