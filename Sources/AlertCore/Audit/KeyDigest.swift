/// A salted hash of what is compared when an alert's key is used again; it remains when the texts
/// have been erased.
package struct KeyDigest: Sendable, Hashable {
    /// 16 random bytes.
    package let salt: [UInt8]
    package let hash: [UInt8]

    package init(salt: [UInt8], hash: [UInt8]) {
        self.salt = salt
        self.hash = hash
    }

    /// The digest in the entry of an ask.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it has none.
    package init(asked entry: AuditEntry?, of id: Alert.ID) throws(AlertError) {
        guard let digest = entry?.asked?.key else {
            throw .inconsistent(id, "no entry has the hash of its question")
        }
        self = digest
    }

    /// The digest of an alert with a key; `nil` for one without.
    package init?(of alert: Alert, source: String, salt: [UInt8]? = nil) {
        guard alert.key != nil else { return nil }
        let salt = salt ?? AuditEntry.makeSalt()
        let input = HashInput("alertq-key-1")
        input.append(hex: salt)
        input.append(source)
        input.append(alert.key)
        for property in AlertProperty.compared { input.append(property, of: alert) }
        self.init(salt: salt, hash: input.hash)
    }
}
