/// A screen that is attached to a queue: who it is, what it can show, and what it shows.
package struct AttachedScreen: Sendable, Hashable, Codable {
    /// The alert on this screen; `nil` while none is.
    package var alert: Alert.ID?
    /// The queue's current alert, as the screen that leads tells the others.
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
    /// For how long it has shown no sign of life, if that is too long for somebody who is there; a
    /// stopped process shows none.
    package var silence: Duration?
    private var isAway: Bool?
    private var hasMorePresenters: Bool?

    /// How many bytes of presenters' names an entry of the slot file has room for.
    private static let presenterLimit = 400

    package init(
        identity: Identity, presenters: [String], only: Alert.ID? = nil, hasDelegate: Bool
    ) {
        uid = identity.uid
        user = identity.user
        tty = identity.tty
        host = identity.host
        pid = identity.pid
        self.only = only
        self.hasDelegate = hasDelegate
        offer(presenters)
    }

    /// Sets the presenters, as many of them as there is room for.
    package mutating func offer(_ names: [String]) {
        var length = 0
        presenters = Array(
            names.prefix { name in
                // With its quotation marks and comma; JSON escapes slashes, too.
                length += 3 + name.utf8.reduce(0) { $0 + ($1 == 0x22 || $1 == 0x2F ? 2 : 1) }
                return length <= Self.presenterLimit
            })
        hasMorePresenters = presenters.count < names.count ? true : nil
    }

    /// What stands in the slot; the silence is its reader's to tell.
    private enum CodingKeys: String, CodingKey {
        case alert, current, uid, user, tty, host, pid, presenters, only, hasDelegate, isAway
        case hasMorePresenters
    }
}

extension AttachedScreen {
    /// Whether it shows what is asked, as far as that can be known.
    package var isThere: Bool { silence == nil }

    /// Whether an alert of another queue is on it, so that it shows none of this one until then.
    package var isBusy: Bool {
        get { isAway ?? false }
        set { isAway = newValue ? true : nil }
    }

    /// Whether it may show an alert, now or when another queue's alert has left it; also where the
    /// slot has no room to tell.
    ///
    /// - Parameter id: The alert's id; `nil` for one that is not stored yet.
    package func mayShow(_ alert: Alert, _ id: Alert.ID?) -> Bool {
        if let only, only != id { return false }
        guard let wanted = alert.presenters, hasMorePresenters != true else { return true }
        return presenters.contains { name in wanted.contains { $0.isIdentical(to: name) } }
    }

    /// The screen without what it shows.
    package var asOffered: AttachedScreen {
        var screen = self
        (screen.alert, screen.current, screen.hasDelegate) = (nil, nil, false)
        return screen
    }

    /// Somebody who leads, but whose text can't be read.
    package static let unknown = AttachedScreen(
        identity: Identity(
            uid: .max, user: "somebody", loginUID: nil, session: nil, tty: nil, ssh: nil,
            host: "", pid: 0),
        presenters: [], hasDelegate: false)
}
