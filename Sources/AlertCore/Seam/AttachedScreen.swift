import TextFormats

/// A screen that is attached to a queue: its identity, what it can show, and what it shows.
package struct AttachedScreen: Sendable, Hashable, Codable {
    /// How many may be attached to a queue.
    package static let maximumCount = 64

    /// The alert on this screen; `nil` if there is none.
    package var alert: Alert.ID?
    /// The queue's current alert, as the leading screen announces it.
    package var current: Alert.ID?
    package var principal: Principal
    package var process: ProcessIdentity
    package var tty: String?
    /// The names of the presenters that can show something now.
    package var presenters: [String]
    /// Whether it has more presenters than a store has told.
    package var hasMorePresenters = false
    /// The only alert that it shows; `nil` for a screen that shows any.
    package var only: Alert.ID?
    /// Whether a delegate may handle a cancel.
    package var hasDelegate: Bool
    /// Whether its process writes the events of all screens to the machine's log.
    package var keepsLog: Bool
    /// Whether an alert of another queue keeps it from showing one of this queue.
    package var isBusy = false
    /// How long it has been silent, if that is too long for a running process; `nil` otherwise.
    package var silence: Duration?

    package init(
        caller: Caller, presenters: [String], only: Alert.ID? = nil, hasDelegate: Bool,
        keepsLog: Bool = false
    ) {
        principal = caller.principal
        // What speaks through a process of ours is shown by that process.
        process = caller.process ?? .current
        tty = caller.tty
        self.presenters = presenters
        self.only = only
        self.hasDelegate = hasDelegate
        self.keepsLog = keepsLog
    }

    /// Sets what it can show; a screen that can't show anything now shows nothing.
    package mutating func offer(_ names: [String], isBusy: Bool) {
        presenters = names
        self.isBusy = isBusy
        if isBusy || names.isEmpty { (alert, current) = (nil, nil) }
    }

    /// Sets the alert that it shows, and the current alert if it leads.
    package mutating func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool = false
    ) {
        (self.alert, self.current, self.hasDelegate) = (alert, current, hasDelegate)
    }

    /// Whether its process is running, as far as is known.
    package var isThere: Bool { silence == nil }

    /// Whether it may show an alert, now or when another queue's alert has left it; also `true` if
    /// it has presenters that are unknown.
    ///
    /// - Parameter id: The alert's id; `nil` for one that is not stored yet.
    package func mayShow(_ alert: Alert, _ id: Alert.ID?) -> Bool {
        if let only, only != id { return false }
        if hasMorePresenters { return true }
        return !presenters.isEmpty && alert.mayBeShown(by: presenters)
    }

    /// The screen without the alert it shows.
    package var asOffered: AttachedScreen {
        var screen = self
        (screen.alert, screen.current, screen.hasDelegate) = (nil, nil, false)
        return screen
    }
}

extension Alert {
    /// Whether one of the presenters with these names may show it.
    package func mayBeShown(by names: [String]) -> Bool {
        presenters?.hasIdentical(of: names) ?? true
    }
}

extension AlertError {
    /// The error for one more screen than may be attached.
    package static let tooManyScreens = AlertError.busy(
        "\(AttachedScreen.maximumCount) screens show this queue, which is the maximum; "
            + "end one of them and try again")
}
