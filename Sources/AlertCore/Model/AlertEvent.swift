import FoundationEssentials

/// Something that happened to an alert, in the order of the audit log.
public struct AlertEvent: Sendable, Codable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// The alert was stored.
        case asked
        /// It appeared on a screen.
        case presented
        /// It left the screen without a result; the log's entry says why.
        case returned
        /// It was snoozed.
        case snoozed
        /// Somebody said that they deal with it.
        case claimed
        /// Its claim was ended.
        case released
        /// A cancel was requested from the screen that shows it, whose delegate may handle it.
        case cancelling
        /// It got its response.
        case resolved
        /// Its asker has asked another question in its place.
        case superseded
        /// The asker took the response.
        case collected
        /// The texts of old alerts were erased.
        case erased
        /// A backup replaced the queue.
        case restored
        /// The command that an answer allowed to run was started, or has ended.
        case ran
        /// The queue goes on in another place, and nothing is written here any more.
        case moved
        /// The clock of the queue's server was set, and the queue's time goes on as before.
        case clock
        /// Something that a later version has logged.
        case other(String)
    }

    /// The position in the audit log, from 1.
    public let sequence: Int64
    /// What happened.
    public let kind: Kind
    /// When it happened, by the wall clock.
    public let at: Date
    /// The alert that it happened to; `nil` if it concerns the whole queue.
    public let alertID: Alert.ID?
    /// The name of the asker.
    public let source: String?
    /// The alert's title; `nil` once it has been erased, or if it concerns the whole queue.
    public package(set) var title: String?
    /// The key that the alert was asked with, if it has one.
    public package(set) var key: String?
    /// How it ended, for ``Kind/resolved``.
    public let outcome: Outcome?
    /// The chosen button's index, or −1 if there is none; for ``Kind/resolved``.
    public let buttonIndex: Int?
    /// Who decided, for ``Kind/resolved`` and ``Kind/cancelling``.
    public let by: ResolvedBy?
    /// Who did it, and through what.
    public internal(set) var responder: Caller
    /// The hash of its entry in the audit log.
    var hash: [UInt8] = []

    package init(
        sequence: Int64, kind: Kind, at: Date, alertID: Alert.ID?, source: String?,
        outcome: Outcome?, buttonIndex: Int?, by: ResolvedBy?, responder: Caller
    ) {
        self.sequence = sequence
        self.kind = kind
        self.at = at
        self.alertID = alertID
        self.source = source
        self.outcome = outcome
        self.buttonIndex = buttonIndex
        self.by = by
        self.responder = responder
    }

    /// Its entry in the audit log, to continue after: ``AlertManager/events(after:)``.
    public var cursor: AuditHead { AuditHead(sequence: sequence, hash: hash) }
}

extension AlertEvent.Kind: RawRepresentable, Codable {
    /// The kinds that this version knows.
    package static let known: [AlertEvent.Kind] = [
        .asked, .presented, .returned, .snoozed, .claimed, .released, .cancelling, .resolved,
        .superseded, .collected, .erased, .restored, .ran, .moved, .clock,
    ]

    private static let names = Dictionary(uniqueKeysWithValues: known.map { ($0.rawValue, $0) })

    /// The kind with a name in the log; one that this version does not know is
    /// ``AlertEvent/Kind/other(_:)``.
    public init(rawValue: String) { self = Self.names[rawValue] ?? .other(rawValue) }

    /// Its name in the log.
    public var rawValue: String {
        switch self {
        case .asked: "asked"
        case .presented: "presented"
        case .returned: "returned"
        case .snoozed: "snoozed"
        case .claimed: "claimed"
        case .released: "released"
        case .cancelling: "cancelling"
        case .resolved: "resolved"
        case .superseded: "superseded"
        case .collected: "collected"
        case .erased: "erased"
        case .restored: "restored"
        case .ran: "ran"
        case .moved: "moved"
        case .clock: "clock"
        case .other(let name): name
        }
    }
}
