/// An entry of the audit log, by its number and its hash: the end of the log at some moment, or a
/// cursor to continue after.
///
/// A chain alone can't show that its tail was cut off; a head that is kept outside of the database
/// can. A cursor that the log doesn't have shows that the queue was restored from a backup, or its
/// log rewritten.
public struct AuditHead: Sendable, Hashable, Codable {
    /// The number of the entry, from 1.
    public let sequence: Int64
    /// The hash of that entry, 32 bytes.
    public let hash: [UInt8]

    package init(sequence: Int64, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = hash
    }

    /// Reads the form that ``text`` writes; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int64(parts[0]), sequence > 0,
            let hash = Hex.bytes(parts[1]), hash.count == SHA256.byteCount
        else { return nil }
        self.init(sequence: sequence, hash: hash)
        guard self.text == text else { return nil }
    }

    /// `SEQUENCE:HASH`, the hash as 64 hexadecimal digits.
    public var text: String { "\(sequence):\(Hex.text(hash))" }

    /// The head of an empty log: all entries come after it.
    public static let start = AuditHead(
        sequence: 0, hash: [UInt8](repeating: 0, count: SHA256.byteCount))
}
