import TextFormats

/// A screen that is attached to a queue: its identity, what it can show, and what it shows.
package struct AttachedScreen: Sendable, Hashable, Codable {
    /// The alert on this screen; `nil` if there is none.
    package var alert: Alert.ID?
    /// The queue's current alert, as the leading screen announces it.
    package var current: Alert.ID?
    package var uid: UInt32
    package var user: String?
    package var tty: String?
    package var host: String
    package var pid: Int32
    /// The names of the presenters that can show something now.
    package private(set) var presenters: [String] = []
    /// The only alert that it shows; `nil` for a screen that shows any.
    package var only: Alert.ID?
    /// Whether a delegate may handle a cancel.
    package var hasDelegate: Bool
    /// How long it has been silent, if that is too long for a running process; `nil` otherwise.
    package var silence: Duration?
    private var writesLog: Bool?
    private var showsOtherQueue: Bool?
    private var hasMorePresenters: Bool?

    /// How many bytes of presenters' names fit into an entry of the slot file.
    private static let presenterLimit = 400

    package init(
        identity: Identity, presenters: [String], only: Alert.ID? = nil, hasDelegate: Bool,
        keepsLog: Bool = false
    ) {
        uid = identity.uid
        user = identity.user
        tty = identity.tty
        host = identity.host
        pid = identity.pid
        self.only = only
        self.hasDelegate = hasDelegate
        writesLog = keepsLog ? true : nil
        offer(presenters)
    }

    /// Sets what it can show; a screen that can't show anything now shows nothing.
    package mutating func offer(_ names: [String], isBusy: Bool) {
        offer(names)
        self.isBusy = isBusy
        if isBusy || names.isEmpty { (alert, current) = (nil, nil) }
    }

    /// Sets the alert that it shows, and the current alert if it leads.
    package mutating func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool = false
    ) {
        (self.alert, self.current, self.hasDelegate) = (alert, current, hasDelegate)
    }

    /// Sets the presenters, as many of them as fit.
    private mutating func offer(_ names: [String]) {
        var length = 0
        presenters = Array(
            names.prefix { name in
                // The quotation marks and the comma in JSON.
                length += 3
                for byte in name.utf8 {
                    let isEscaped = byte == 0x22 || byte == 0x2F || byte == 0x5C
                    length += byte < 0x20 ? 6 : isEscaped ? 2 : 1
                }
                return length <= Self.presenterLimit
            })
        hasMorePresenters = presenters.count < names.count ? true : nil
    }

    /// The contents of the slot file's entry; its readers measure the silence themselves.
    private enum CodingKeys: String, CodingKey {
        case alert, current, uid, user, tty, host, pid, presenters, only, hasDelegate, silence
        case writesLog, showsOtherQueue, hasMorePresenters
    }
}

extension AttachedScreen {
    /// Whether its process is running, as far as is known.
    package var isThere: Bool { silence == nil }

    /// Whether an alert of another queue keeps it from showing one of this queue.
    package var isBusy: Bool {
        get { showsOtherQueue ?? false }
        set { showsOtherQueue = newValue ? true : nil }
    }

    /// Whether its process writes the events of all screens to the machine's log.
    package var keepsLog: Bool { writesLog ?? false }

    /// Whether it may show an alert, now or when another queue's alert has left it; also `true` if
    /// the slot has no room for all presenters' names.
    ///
    /// - Parameter id: The alert's id; `nil` for one that is not stored yet.
    package func mayShow(_ alert: Alert, _ id: Alert.ID?) -> Bool {
        if let only, only != id { return false }
        if hasMorePresenters == true { return true }
        return !presenters.isEmpty && alert.mayBeShown(by: presenters)
    }

    /// The screen without the alert it shows.
    package var asOffered: AttachedScreen {
        var screen = self
        (screen.alert, screen.current, screen.hasDelegate) = (nil, nil, false)
        return screen
    }

    /// A leader whose entry can't be read.
    package static let unknown: AttachedScreen = {
        var screen = AttachedScreen(
            identity: Identity(
                uid: .max, user: "somebody", loginUID: nil, session: nil, tty: nil, ssh: nil,
                host: "", pid: 0),
            presenters: [], hasDelegate: false)
        screen.hasMorePresenters = true
        return screen
    }()
}

extension Alert {
    /// Whether one of the presenters with these names may show it.
    package func mayBeShown(by names: [String]) -> Bool {
        presenters?.hasIdentical(of: names) ?? true
    }
}
