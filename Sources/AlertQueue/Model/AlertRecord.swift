import FoundationEssentials

/// A stored alert with everything that has become of it.
public struct AlertRecord: Sendable, Identifiable {
    /// Where an alert is in its life.
    public enum State: String, Sendable, CaseIterable {
        /// It waits, perhaps until a snooze is over.
        case queued
        /// It is on somebody's screen.
        case presented
        /// It has its response.
        case resolved
    }

    /// Who asked: a name that the caller gave, and what the system knows.
    public struct Source: Sendable, Hashable {
        /// The name that the caller gave.
        public let name: String
        /// The effective user id of the process that asked.
        public let uid: UInt32
        /// The process that asked.
        public let pid: Int32
        /// The machine that it ran on; see uname(2).
        public let host: String

        package init(name: String, uid: UInt32, pid: Int32, host: String) {
            self.name = name
            self.uid = uid
            self.pid = pid
            self.host = host
        }
    }

    /// The alert's number in its queue.
    public let id: Alert.ID
    /// What was asked, without its closures.
    ///
    /// Once its texts have been erased, the title is the alert's number, such as `#42`, a label the
    /// button's index, such as `#0`, and so is an id that was the label.
    public let alert: Alert
    /// Who asked.
    public let source: Source
    /// Where it is in its life.
    public package(set) var state: State
    /// When it was stored.
    public let askedAt: Date
    /// When it last appeared on a screen.
    public let presentedAt: Date?
    /// When it expires, by the wall clock; `nil` for never.
    public let expiresAt: Date?
    /// Whether its deadline was given as a moment, and so follows the wall clock when that is set;
    /// a length of time keeps its distance on the clock of the boot in which it was asked.
    public package(set) var followsWallClock = false
    /// Until when it stays away, after somebody chose "later".
    public package(set) var snoozedUntil: Date?
    /// How often somebody chose "later".
    public let snoozes: Int
    /// The final result; `nil` while the alert waits.
    public package(set) var response: Response?
    /// Whether a purge has erased the texts of what was asked.
    public package(set) var isErased = false

    package init(
        id: Alert.ID, alert: Alert, source: Source, state: State, askedAt: Date,
        presentedAt: Date?, expiresAt: Date?, snoozedUntil: Date?, snoozes: Int,
        response: Response?
    ) {
        self.id = id
        self.alert = alert
        self.source = source
        self.state = state
        self.askedAt = askedAt
        self.presentedAt = presentedAt
        self.expiresAt = expiresAt
        self.snoozedUntil = snoozedUntil
        self.snoozes = snoozes
        self.response = response
    }

    /// Whether its deadline passed before it had been on any screen.
    public var hasExpiredUnseen: Bool { response?.outcome == .expired && presentedAt == nil }

    /// The title; `nil` once it has been erased.
    package var title: String? { isErased ? nil : alert.title }

    /// The id of a button; `nil` where it was erased with the label that it was.
    package func id(of button: Alert.Button) -> String? {
        isErased && button.id == button.title ? nil : button.id
    }
}
