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
