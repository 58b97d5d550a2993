import FoundationEssentials

/// Which responses to read; every condition that is set must hold.
///
/// ```swift
/// let filter = HistoryFilter(source: "backup", outcome: .answered, user: "ana", via: "terminal")
/// for record in try await manager.history(filter) { print(record.alert.title) }
/// ```
public struct HistoryFilter: Sendable {
    /// The name of whoever asked.
    public var source: String?
    /// The key that it was asked with.
    public var key: String?
    /// How it ended.
    public var outcome: Outcome?
    /// The chosen button's id.
    public var button: String?
    /// Who decided.
    public var by: ResolvedBy?
    /// The name of the account that acted, as ``Responder/user`` has it.
    public var user: String?
    /// The presenter or the verb through which somebody acted, as ``Responder/via`` has it.
    public var via: String?
    /// The earliest time of the response, inclusive.
    public var since: Date?
    /// The latest time of the response, exclusive.
    public var until: Date?
    /// Whether to read only what no asker has taken yet.
    public var uncollected: Bool
    /// Words that the title, the message, the buttons' labels or the values of `userInfo` have.
    ///
    /// Words are separated by spaces and all must occur, each as a whole; upper and lower case and
    /// accents make no difference. Words in quotation marks must follow each other; a star at the
    /// end of a word stands for any other end. Responses come in the order in which they were
    /// stored then, which is that of their times unless somebody set the clock.
    public var text: String?

    /// Creates a filter; without conditions it lets everything through.
    public init(
        source: String? = nil, key: String? = nil, outcome: Outcome? = nil, button: String? = nil,
        by: ResolvedBy? = nil, user: String? = nil, via: String? = nil, since: Date? = nil,
        until: Date? = nil, uncollected: Bool = false, text: String? = nil
    ) {
        self.source = source
        self.key = key
        self.outcome = outcome
        self.button = button
        self.by = by
        self.user = user
        self.via = via
        self.since = since
        self.until = until
        self.uncollected = uncollected
        self.text = text
    }

    /// Whether an alert's response meets the conditions, but for those on words and on collecting.
    package func admits(_ record: AlertRecord) -> Bool {
        guard let response = record.response else { return false }
        // In the milliseconds in which times are stored.
        let resolved = Timestamp.milliseconds(response.resolvedAt)
        return source.map(record.source.name.isIdentical) ?? true
            && key.map { record.alert.key.isIdentical(to: $0) } ?? true
            && outcome.map { $0 == response.outcome } ?? true
            && button.map { (response.button?.id).isIdentical(to: $0) } ?? true
            && by.map { $0 == response.by } ?? true
            && user.map { (response.responder?.user).isIdentical(to: $0) } ?? true
            && via.map { (response.responder?.via).isIdentical(to: $0) } ?? true
            && since.map { Timestamp.milliseconds($0) <= resolved } ?? true
            && until.map { Timestamp.milliseconds($0) > resolved } ?? true
    }
}
