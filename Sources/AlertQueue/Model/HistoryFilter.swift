import FoundationEssentials

/// Which responses to read; every condition that is set must hold.
public struct HistoryFilter: Sendable {
    public var source: String?
    public var key: String?
    public var outcome: Outcome?
    /// The chosen button's id.
    public var button: String?
    public var by: ResolvedBy?
    /// The earliest time of the response, inclusive.
    public var since: Date?
    /// The latest time of the response, exclusive.
    public var until: Date?
    /// Whether to read only what no asker has taken yet.
    public var uncollected: Bool

    public init(
        source: String? = nil, key: String? = nil, outcome: Outcome? = nil, button: String? = nil,
        by: ResolvedBy? = nil, since: Date? = nil, until: Date? = nil, uncollected: Bool = false
    ) {
        self.source = source
        self.key = key
        self.outcome = outcome
        self.button = button
        self.by = by
        self.since = since
        self.until = until
        self.uncollected = uncollected
    }
}
