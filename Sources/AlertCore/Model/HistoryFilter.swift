import FoundationEssentials
import TextFormats

/// Conditions on the responses to read; all that are set must hold.
///
/// ```swift
/// let filter = HistoryFilter(source: "backup", outcome: .answered, user: "ana", via: "terminal")
/// for record in try await manager.history(filter) { print(record.alert.title) }
/// ```
public struct HistoryFilter: Sendable, Codable {
    /// The name of the asker.
    public var source: String?
    /// The account or the person that asked.
    public var asker: Principal?
    /// The key that the alert was asked with.
    public var key: String?
    /// How it ended.
    public var outcome: Outcome?
    /// The chosen button's id.
    public var button: String?
    /// Who decided.
    public var by: ResolvedBy?
    /// The name of the account that acted, as in ``Caller/account``; `person:boss` for a person.
    public var user: String?
    /// The machine of the account that acted, as ``Account/host`` has it; `nil` for any.
    public var userHost: String?
    /// The presenter or the verb that was used, as in ``Caller/via``.
    public var via: String?
    /// The earliest time of the response, inclusive.
    public var since: Date?
    /// The latest time of the response, exclusive.
    public var until: Date?
    /// Whether to read only responses that no asker has taken yet.
    public var uncollected: Bool
    /// Words to find in the title, the message, the buttons' labels, the values of `userInfo`, or the
    /// answer's values and note.
    ///
    /// Words are separated by spaces. All must occur, each as a whole; case and accents are
    /// ignored. Words in quotation marks must occur as a phrase; a star at the end of a word
    /// matches any ending. In Korean, and in scripts that are written without spaces, any part of a
    /// text between spaces is found. Responses then come in the order in which they were stored, which is
    /// that of their times unless the clock was set.
    public var text: String?

    /// Creates a filter; without conditions, everything matches.
    public init(
        source: String? = nil, asker: Principal? = nil, key: String? = nil,
        outcome: Outcome? = nil, button: String? = nil, by: ResolvedBy? = nil, user: String? = nil,
        userHost: String? = nil, via: String? = nil, since: Date? = nil, until: Date? = nil,
        uncollected: Bool = false, text: String? = nil
    ) {
        self.source = source
        self.asker = asker
        self.key = key
        self.outcome = outcome
        self.button = button
        self.by = by
        self.user = user
        self.userHost = userHost
        self.via = via
        self.since = since
        self.until = until
        self.uncollected = uncollected
        self.text = text
    }

    /// Whether an alert's response meets all conditions except those on words and collection.
    package func admits(_ record: AlertRecord) -> Bool {
        guard let response = record.response else { return false }
        // Times are stored in milliseconds.
        let resolved = Timestamp.milliseconds(response.resolvedAt)
        return source.map(record.source.name.isIdentical) ?? true
            && asker.map { $0 == record.source.principal } ?? true
            && key.map { record.alert.key.isIdentical(to: $0) } ?? true
            && outcome.map { $0 == response.outcome } ?? true
            && button.map { (response.button?.id).isIdentical(to: $0) } ?? true
            && by.map { $0 == response.by } ?? true
            && user.map { (response.responder?.principal.user).isIdentical(to: $0) } ?? true
            && userHost.map { (response.responder?.account?.host).isIdentical(to: $0) } ?? true
            && via.map { (response.responder?.via).isIdentical(to: $0) } ?? true
            && since.map { Timestamp.milliseconds($0) <= resolved } ?? true
            && until.map { Timestamp.milliseconds($0) > resolved } ?? true
    }
}
