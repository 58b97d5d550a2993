import FoundationEssentials

/// How an alert ended. The kinds are never merged.
public enum Outcome: String, Sendable, CaseIterable {
    /// A person chose a button, or a program or a standing policy did.
    case answered
    /// The system cancelled the alert.
    case cancelled
    /// An alert without buttons left the screen.
    case dismissed
    /// The deadline passed; a default button may have been applied, by policy.
    case expired
    /// The asker took the alert back.
    case withdrawn
}

/// Who decided on a response.
public enum ResolvedBy: String, Sendable, CaseIterable {
    /// Somebody chose, or closed an alert without buttons: on a presenter's screen, or with a
    /// command in the foreground of its terminal.
    case person
    /// A program chose: the library's ``AlertManager/answer(_:button:by:seen:)``, or a command
    /// without a terminal.
    case program
    /// A rule that was set beforehand, such as the default button of a deadline.
    case policy
    /// Whoever had asked.
    case asker
    /// A timer, or a cancel in the system's name.
    case system
}

/// Who acted, and through what.
///
/// It is what the process that wrote the response says of itself: uid, pid and host as the kernel
/// told it, the terminal and the SSH peer from its descriptors and environment. Whoever may write
/// the database file may write anything; the audit log's chain shows later changes.
///
/// In a user namespace, such as a container's, ``uid`` is the account's id outside of it, and
/// ``user`` tells of both: `ana, in a user namespace as uid 0`. The kernel tells of one namespace
/// only: if that one lies in another, and has a root of its own who is not the machine's, the uid
/// is 4,294,967,295 and the name begins with `unknown`.
public struct Responder: Sendable, Hashable {
    /// The effective user id of the process that answered, as the machine knows it.
    public var uid: UInt32
    /// The account's name at that time, if it had one, and whether it acted in a user namespace.
    public var user: String?
    /// The presenter's name, or the verb of the command.
    public var via: String
    /// The terminal's device, such as `/dev/pts/3`.
    public var tty: String?
    /// The address of the SSH client, from `SSH_CONNECTION` (see ssh(1)).
    public var ssh: String?
    /// The machine's name; see uname(2).
    public var host: String
    /// The process that answered.
    public var pid: Int32

    /// Creates a responder, for a store or a test.
    public init(
        uid: UInt32, user: String? = nil, via: String, tty: String? = nil, ssh: String? = nil,
        host: String, pid: Int32
    ) {
        self.uid = uid
        self.user = user
        self.via = via
        self.tty = tty
        self.ssh = ssh
        self.host = host
        self.pid = pid
    }
}

/// The one final result of an alert.
public struct Response: Sendable, Equatable {
    /// The alert that it ends.
    public let alertID: Alert.ID
    /// How it ended.
    public let outcome: Outcome
    /// The chosen or applied button's index from 0, or −1 for none.
    public let buttonIndex: Int
    /// The chosen or applied button; `nil` for none, or once its text has been erased.
    public let button: Alert.Button?
    /// Who decided.
    public let by: ResolvedBy
    /// Who acted; `nil` where nobody did, as at a deadline.
    public let responder: Responder?
    /// When the response was stored.
    public let resolvedAt: Date
    /// When the asker took it; `nil` until then.
    public let collectedAt: Date?
    /// The strings that the asker gave along.
    public let userInfo: [String: String]
    /// Whether a delegate handled the cancel, or the cancel button was simulated; `nil` for every
    /// other outcome than ``Outcome/cancelled``.
    public let cancelHandling: CancelHandling?

    package init(
        alertID: Alert.ID, outcome: Outcome, buttonIndex: Int, button: Alert.Button?,
        by: ResolvedBy, responder: Responder?, resolvedAt: Date, collectedAt: Date?,
        userInfo: [String: String], cancelHandling: CancelHandling? = nil
    ) {
        self.alertID = alertID
        self.outcome = outcome
        self.buttonIndex = buttonIndex
        self.button = button
        self.by = by
        self.responder = responder
        self.resolvedAt = resolvedAt
        self.collectedAt = collectedAt
        self.userInfo = userInfo
        self.cancelHandling = cancelHandling
    }

    /// The same response, once the asker has taken it.
    package func collected(at date: Date) -> Response {
        Response(
            alertID: alertID, outcome: outcome, buttonIndex: buttonIndex, button: button, by: by,
            responder: responder, resolvedAt: resolvedAt, collectedAt: date, userInfo: userInfo,
            cancelHandling: cancelHandling)
    }

    /// Whether code that was given with the alert has anything to do: not after a cancel that a
    /// delegate has handled.
    var runsHandlers: Bool { cancelHandling != .handled }

    /// Whether delegates hear of a click: a person chose a button, or a cancel that nobody handled
    /// simulates that.
    var isClick: Bool {
        switch outcome {
        case .answered: by == .person
        case .cancelled: cancelHandling == .simulateCancelButton && buttonIndex >= 0
        case .dismissed, .expired, .withdrawn: false
        }
    }
}
