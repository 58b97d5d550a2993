/// A reason that the program gives in an entry of the audit log: why a response that was taken is
/// not used, or why an alert left the screen without one. Later versions may have others.
package struct EntryReason: RawRepresentable, Sendable, Hashable, Codable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    // Why a response is not used.

    /// It was given longer ago than ``Alert/validFor`` allows.
    package static let stale = EntryReason(rawValue: "stale")
    /// It was given before the queue was restored from a backup, and may have been used since.
    package static let restored = EntryReason(rawValue: "restored")
    /// The deadline passed, and nobody had decided.
    package static let undecided = EntryReason(rawValue: "undecided")
    /// It answers an earlier request.
    package static let earlier = EntryReason(rawValue: "earlier")
    /// Its asker was ended before it could use it.
    package static let ended = EntryReason(rawValue: "ended")
    /// Its asker has gone on, and may have used it.
    package static let movedOn = EntryReason(rawValue: "moved_on")

    // Why an alert left the screen.

    /// The presenter was stopped.
    package static let stopped = EntryReason(rawValue: "stopped")
    /// The screen was detached.
    package static let detached = EntryReason(rawValue: "detached")
    /// Another alert is to be shown.
    package static let notCurrent = EntryReason(rawValue: "not_current")
    /// The screen that showed it has died.
    package static let unshown = EntryReason(rawValue: "unshown")
    /// The queue can't be read.
    package static let unreadable = EntryReason(rawValue: "unreadable")

    /// What it says to people; the reason as it is if this version does not know it.
    var words: String {
        switch self {
        case .stale: "it was stale"
        case .restored: "not used: the queue has been restored from a backup since"
        case .undecided: "not used: nobody had decided"
        case .earlier: "not used: it answers an earlier request"
        case .ended: "not used: nobody waited for it any more"
        case .movedOn: "probably not used: its asker has gone on"
        case .stopped: "the presenter stopped"
        case .detached: "the screen was detached"
        case .notCurrent: "another alert is current"
        case .unshown: "no screen shows it any more"
        case .unreadable: "the queue can't be read"
        default: rawValue
        }
    }
}
