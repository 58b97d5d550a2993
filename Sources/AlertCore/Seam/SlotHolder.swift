/// Who holds the presentation slot.
package struct SlotHolder: Sendable, Hashable, Codable {
    /// The alert on the screen; `nil` while none is.
    package var alert: Alert.ID?
    package var uid: UInt32
    package var user: String?
    package var tty: String?
    package var host: String
    package var pid: Int32
    package var presenters: [String]
    /// Whether a delegate may handle a cancel.
    package var hasDelegate: Bool
    /// For how long it has shown no sign of life, if that is too long for somebody who is there; a
    /// stopped process shows none.
    package var silence: Duration?

    // The slot's text has a fixed length.
    private static let presenterLimit = 4
    /// In bytes; a name that is cut keeps all but its last character or so.
    private static let presenterNameLimit = 32

    package init(identity: Identity, presenters: [String], hasDelegate: Bool) {
        uid = identity.uid
        user = identity.user
        tty = identity.tty
        host = identity.host
        pid = identity.pid
        self.presenters = presenters.prefix(Self.presenterLimit).map { name in
            var name = name
            while name.utf8.count > Self.presenterNameLimit { name.removeLast() }
            return name
        }
        self.hasDelegate = hasDelegate
    }

    /// Whether it shows what is asked, as far as that can be known.
    package var isThere: Bool { silence == nil }

    /// What stands in the slot; the silence is its reader's to tell.
    private enum CodingKeys: String, CodingKey {
        case alert, uid, user, tty, host, pid, presenters, hasDelegate
    }
}

extension SlotHolder {
    /// Whether it may show an alert for these presenters, or for all of them; also where its text
    /// has no room to tell.
    package func mayShow(on wanted: [String]?) -> Bool {
        guard let wanted, presenters.count < Self.presenterLimit else { return true }
        return presenters.contains { name in
            let mayBeCut = name.utf8.count > Self.presenterNameLimit - 4
            return wanted.contains { $0 == name || (mayBeCut && $0.hasPrefix(name)) }
        }
    }

    /// Somebody who holds the slot, but whose text can't be read.
    package static let unknown = SlotHolder(
        identity: Identity(
            uid: .max, user: "somebody", loginUID: nil, session: nil, tty: nil, ssh: nil,
            host: "", pid: 0),
        presenters: [], hasDelegate: false)
}
