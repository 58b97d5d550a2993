/// A salted hash of what is compared when somebody asks with an alert's key again: it stays when
/// the texts have been erased.
package struct KeyDigest: Sendable {
    /// 16 random bytes.
    package let salt: [UInt8]
    /// The SHA-256 of these netstrings: `alertq-key-1`, salt, source, key, style, title, message,
    /// default button, and buttons and `userInfo` as in the content.
    package let hash: [UInt8]

    package init(salt: [UInt8], hash: [UInt8]) {
        self.salt = salt
        self.hash = hash
    }

    /// Of an alert with a key; `nil` for one without.
    package init?(of alert: Alert, source: String, salt: [UInt8] = AuditEntry.makeSalt()) {
        guard let key = alert.key else { return nil }
        let canonical = CanonicalBytes("alertq-key-1")
        canonical.append(hex: salt)
        canonical.append(source)
        canonical.append(key)
        canonical.append(alert.style.rawValue)
        canonical.append(alert.title)
        canonical.append(alert.message)
        canonical.append(alert.defaultButton)
        canonical.append(alert.buttons)
        canonical.append(alert.userInfo)
        self.init(salt: salt, hash: canonical.hash)
    }
}
