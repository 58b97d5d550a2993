import FoundationEssentials

/// The one final result of an alert.
public struct Response: Sendable, Equatable {
    /// The alert that it ends.
    public let alertID: Alert.ID
    /// How it ended.
    public let outcome: Outcome
    /// The index of the chosen or applied button, from 0, or −1 if there is none.
    public let buttonIndex: Int
    /// The chosen or applied button; `nil` if there is none, or once its text has been erased.
    public let button: Alert.Button?
    /// The values of the alert's fields, by the fields' ids, and the note; empty once the texts have
    /// been erased.
    public let input: Alert.Input
    /// Who decided.
    public let by: ResolvedBy
    /// Who acted; `nil` if nobody did, as at a deadline.
    public private(set) var responder: Caller?
    /// When the response was stored.
    public let resolvedAt: Date
    /// When the asker took it; `nil` until then.
    public private(set) var collectedAt: Date?
    /// The strings that the asker passed with the alert.
    public let userInfo: [String: String]
    /// Whether a delegate handled the cancel, or the cancel button was simulated; `nil` for every
    /// outcome other than ``Outcome/cancelled``.
    public let cancelHandling: CancelHandling?
    /// The alert that its asker asked in its place, under its key; `nil` if there is none. An alert
    /// that still waited was withdrawn for that.
    public package(set) var supersededBy: Alert.ID?
    /// Whether the answer was given longer ago than it may be used, as ``Alert/validFor`` says, at
    /// the time of reading.
    public package(set) var isStale = false

    package init(
        alertID: Alert.ID, outcome: Outcome, buttonIndex: Int, button: Alert.Button?,
        by: ResolvedBy, responder: Caller?, resolvedAt: Date, collectedAt: Date?,
        userInfo: [String: String], cancelHandling: CancelHandling? = nil,
        input: Alert.Input = Alert.Input()
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
        self.input = input
    }

    /// The values of the alert's fields, by the fields' ids.
    public var values: [String: Alert.Value] { input.values }

    /// The remark that came with the answer, or the reason of a withdrawal.
    public var note: String? { input.note }

    /// Names the host of the account that answered as a process sees it.
    package mutating func nameHosts(_ shown: (Principal) -> Principal) {
        guard let principal = responder?.principal else { return }
        responder?.principal = shown(principal)
    }

    /// The same response, once the asker has taken it.
    package func collected(at date: Date) -> Response {
        var response = self
        response.collectedAt = date
        return response
    }

    /// Whether somebody chose a button, or a policy or the deadline applied one.
    package var isAnswer: Bool {
        switch outcome {
        case .answered: true
        case .expired: buttonIndex >= 0
        case .cancelled, .dismissed, .withdrawn: false
        }
    }

    /// Whether the alert's actions and handlers run: they don't after a cancel that a delegate has
    /// handled.
    package var runsHandlers: Bool { cancelHandling != .handled }

    /// Whether delegates are notified of a click: a person chose a button, or an unhandled cancel
    /// simulates it.
    var isClick: Bool {
        switch outcome {
        case .answered: by == .person
        case .cancelled: cancelHandling == .simulateCancelButton && buttonIndex >= 0
        case .dismissed, .expired, .withdrawn: false
        }
    }
}
