import FoundationEssentials

/// A stored alert and everything that has happened to it.
public struct AlertRecord: Sendable, Identifiable, Equatable {
    /// Where an alert is in its life.
    public enum State: String, Sendable, CaseIterable {
        /// It is waiting, perhaps until a snooze is over.
        case queued
        /// It is on a screen.
        case presented
        /// It has its response.
        case resolved
    }

    /// Who asked: a name that the caller gave, and what the system knows.
    public struct Source: Sendable, Hashable {
        /// The name that the caller gave.
        public let name: String
        /// The account or person that asked; records don't hold the name that an account had.
        public internal(set) var principal: Principal
        /// What spoke; the boot of a process is left out, since only the log has it.
        public let means: Means

        package init(name: String, _ principal: Principal, _ means: Means) {
            self.name = name
            self.principal = principal.unnamed
            self.means = means.recorded
        }

        /// The account that asked; `nil` for a person.
        public var account: Account? { principal.account }
        /// The process that asked; `nil` if something else did.
        public var process: ProcessIdentity? { means.process }
    }

    /// What never changes, which all copies of a record share.
    private final class Asked: Sendable {
        let id: Alert.ID
        let alert: Alert
        let source: Source
        let askedAt: Date
        let expiresAt: Date?

        init(id: Alert.ID, alert: Alert, source: Source, askedAt: Date, expiresAt: Date?) {
            (self.id, self.alert, self.source) = (id, alert, source)
            (self.askedAt, self.expiresAt) = (askedAt, expiresAt)
        }
    }

    private final class Resolved: Sendable {
        let response: Response

        init(_ response: Response) { self.response = response }
    }

    private final class Claimed: Sendable {
        let claim: AlertClaim

        init(_ claim: AlertClaim) { self.claim = claim }
    }

    private var asked: Asked
    private var resolved: Resolved?
    private var claimed: Claimed?

    /// The alert's number in its queue.
    public var id: Alert.ID { asked.id }
    /// What was asked, without its closures.
    ///
    /// Once its texts have been erased, the title is the alert's number, such as `#42`. A label is
    /// the button's index, such as `#0`, and so is an id made from the label.
    public var alert: Alert { asked.alert }
    /// Who asked.
    public var source: Source { asked.source }
    /// Where it is in its life.
    public package(set) var state: State
    /// When it was stored.
    public var askedAt: Date { asked.askedAt }
    /// When it last appeared on a screen.
    public let presentedAt: Date?
    /// When it expires, by the wall clock; `nil` means never.
    public var expiresAt: Date? { asked.expiresAt }
    /// Whether its deadline was given as a date, and so follows the wall clock when that is set; a
    /// duration is measured on the clock of the boot in which the alert was asked.
    public package(set) var followsWallClock = false
    /// Whether its deadline is measured on the clock of the queue's server.
    public package(set) var followsServerClock = false
    /// Until when it is snoozed.
    public package(set) var snoozedUntil: Date?
    /// How often it has been snoozed.
    public package(set) var snoozes: Int
    /// The final result; `nil` while the alert waits.
    public package(set) var response: Response? {
        get { resolved?.response }
        set { resolved = newValue.map(Resolved.init) }
    }
    /// The claim on it; `nil` without one, once that has lapsed, or once the alert has ended.
    public package(set) var claim: AlertClaim? {
        get { claimed?.claim }
        set { claimed = newValue.map(Claimed.init) }
    }
    /// Whether a purge has erased the texts of what was asked.
    public package(set) var isErased = false
    /// Whether all of this is stored; `false` for an alert that reads as expired because its
    /// deadline has passed, and whose ``response`` any process that has the queue open for writing
    /// will store within a second or so, unless the clock has been set back by then.
    public package(set) var isStored = true
    /// Whether it still waits although nobody waits for its response any longer: its asker, which
    /// did, with a call or with closures, has ended, and no other process has joined it.
    ///
    /// It is `false` in the first ten seconds, for an alert that was asked without waiting or that
    /// names a ``Alert/handler``, and where it is not known, as in a backup. The alert can be
    /// answered all the same: asking again with its ``Alert/key`` returns the response.
    public package(set) var isOrphaned = false
    /// Whether the audit log contradicts it, so that somebody has changed the queue; nothing in it can
    /// be relied on then. Only ``AlertManager/history(_:limit:after:)`` returns such records, and
    /// ``AlertManager/record(_:)`` throws what the contradiction is;
    /// ``AlertManager/pending(source:after:limit:)`` doesn't compare.
    public package(set) var isContradicted = false

    /// When it was asked, if its asker waits for the response; `nil` otherwise.
    package var awaitedSince: ClockReading?
    /// When its answer was given, if that goes stale.
    package var givenAt: ClockReading?
    /// From when on it is valid: for a default the deadline, and otherwise the same.
    package var validSince: ClockReading?

    /// The salt of the content's digest, if a store has read it.
    package var salt: [UInt8]?
    /// The digest, if the record came from JSON.
    private var givenDigest: String?

    package init(
        id: Alert.ID, alert: Alert, source: Source, state: State, askedAt: Date,
        presentedAt: Date?, expiresAt: Date?, snoozedUntil: Date?, snoozes: Int,
        response: Response?
    ) {
        asked = Asked(
            id: id, alert: alert, source: source, askedAt: askedAt, expiresAt: expiresAt)
        self.state = state
        self.presentedAt = presentedAt
        self.snoozedUntil = snoozedUntil
        self.snoozes = snoozes
        resolved = response.map(Resolved.init)
    }

    /// The digest of what was asked, as 64 hexadecimal digits: the `content` of the audit log's
    /// entries, which <doc:AuditChain> describes; `nil` once the texts have been erased.
    ///
    /// A program that shows the alert elsewhere passes it to
    /// ``AlertManager/answer(_:button:by:seen:input:)``, so that the answer only counts for what was
    /// seen.
    public package(set) var seen: String? {
        get { givenDigest ?? salt.map { Hex.text(AuditEntry.content(of: alert, salt: $0)) } }
        set { givenDigest = newValue }
    }

    /// The bytes of ``seen``.
    var seenDigest: [UInt8]? {
        if let givenDigest { return Hex.bytes(givenDigest) }
        return salt.map { AuditEntry.content(of: alert, salt: $0) }
    }

    /// The bytes of a digest that was passed as ``seen``.
    static func digest(_ text: String) throws(AlertError) -> [UInt8] {
        guard let bytes = Hex.bytes(text), bytes.count == 32 else {
            throw .invalid(
                "digest of what was seen", "is not 64 hexadecimal digits, like `seen` in JSON")
        }
        return bytes
    }

    /// Whether two records describe the same alert in the same way; closures are ignored.
    public static func == (left: AlertRecord, right: AlertRecord) -> Bool {
        left.id == right.id && left.alert == right.alert && left.source == right.source
            && left.state == right.state && left.askedAt == right.askedAt
            && left.presentedAt == right.presentedAt && left.expiresAt == right.expiresAt
            && left.followsWallClock == right.followsWallClock
            && left.followsServerClock == right.followsServerClock
            && left.snoozedUntil == right.snoozedUntil && left.snoozes == right.snoozes
            && left.response == right.response && left.isErased == right.isErased
            && left.isStored == right.isStored && left.isOrphaned == right.isOrphaned
            && left.seen == right.seen && left.isContradicted == right.isContradicted
            && left.claim == right.claim
    }

    /// The clock that its deadline follows, in words.
    package var deadlineClock: String {
        followsWallClock
            ? AlertJSON.onWallClock : followsServerClock ? AlertJSON.onServerClock : "boot clock"
    }

    /// Notes which clock its deadline follows.
    package mutating func note(_ deadline: ClockReading?) {
        followsWallClock = deadline?.isOnWallClock ?? false
        followsServerClock = deadline?.boot == ClockReading.serverBoot
    }

    /// Names the hosts of the accounts that asked and answered as a process sees them.
    package mutating func nameHosts(_ shown: (Principal) -> Principal) {
        var source = source
        source.principal = shown(source.principal)
        if !source.principal.host.isIdentical(to: self.source.principal.host) {
            asked = Asked(
                id: id, alert: alert, source: source, askedAt: askedAt, expiresAt: expiresAt)
        }
        if var claim {
            claim.by.principal = shown(claim.by.principal)
            self.claim = claim
        }
        guard var response else { return }
        let old = response.responder?.principal.host
        response.nameHosts(shown)
        guard !(response.responder?.principal.host).isIdentical(to: old) else { return }
        self.response = response
    }

    /// Whether its deadline passed before it was shown on any screen.
    public var hasExpiredUnseen: Bool { response?.outcome == .expired && presentedAt == nil }

    /// The title; `nil` once it has been erased.
    package var title: String? { isErased ? nil : alert.title }

    /// The id of a button; `nil` if it was erased with the label that it was made from.
    package func id(of button: Alert.Button) -> String? {
        isErased && button.id == button.title ? nil : button.id
    }
}

extension AlertRecord {
    /// The record while the alert is on a screen.
    var onScreen: AlertRecord {
        var shown = self
        (shown.state, shown.response) = (.presented, nil)
        return shown
    }
}
