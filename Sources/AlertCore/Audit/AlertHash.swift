// The hashes of an alert in the audit log: each is the SHA-256 of netstrings, its name and then the
// properties that it covers, in the order of `AlertProperty.all`.

extension AuditEntry {
    private static let contentName = Array("alertq-content-1".utf8)
    private static let leavesName = Array("alertq-leaves-1".utf8)

    /// The salted hash of an alert's content: everything that was asked.
    ///
    /// - Parameter input: Memory to reuse.
    package static func content(
        of alert: Alert, salt: [UInt8], _ input: HashInput = HashInput()
    ) -> [UInt8] {
        input.begin(contentName)
        input.append(hex: salt)
        for property in AlertProperty.content { input.append(property, of: alert) }
        return input.hash
    }

    /// The hash of the content that an erasure leaves of an alert that still has its texts.
    package static func leaves(of alert: Alert, _ input: HashInput = HashInput()) -> [UInt8] {
        leaves(of: alert, ErasedButtons(of: alert), input)
    }

    /// The hash of the content that an erasure leaves of an alert. It needs no salt: all of it stays
    /// readable.
    package static func leaves(
        of alert: Alert, _ left: ErasedButtons, _ input: HashInput = HashInput()
    ) -> [UInt8] {
        input.begin(leavesName)
        for property in AlertProperty.left { input.append(property, of: alert, left) }
        return input.hash
    }
}

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
