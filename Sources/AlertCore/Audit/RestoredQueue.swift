/// The contents of a restore's audit entry, stored as its detail.
///
/// `backup HEAD; replaced HEAD; alerts from N; responses from N`, where a head is
/// `SEQUENCE:HASH`, or `none` for an empty log. Instead of `replaced HEAD` there is `replaced an
/// unreadable queue`, or nothing if there was no queue. The documentation has this grammar, so it
/// never changes.
package struct RestoredQueue: Sendable, Hashable {
    /// What happened to the queue that was there before.
    package enum Replaced: Sendable, Hashable {
        case nothing
        case unreadable
        case queue(AuditHead)
    }

    /// The end of the log in the backup, which the entry continues.
    package var backup: AuditHead
    package var replaced: Replaced
    /// The ids and numbers that are assigned next.
    package var firstAlert: Int64
    package var firstResponse: Int64

    package init(
        backup: AuditHead, replaced: Replaced, firstAlert: Int64, firstResponse: Int64
    ) {
        self.backup = backup
        self.replaced = replaced
        self.firstAlert = firstAlert
        self.firstResponse = firstResponse
    }

    /// The minimum jump of ids and numbers: past all that the queue has assigned since the backup.
    package static let jump: Int64 = 1 << 32

    package var detail: String {
        var parts = ["backup \(Self.text(backup))"]
        switch replaced {
        case .nothing: break
        case .unreadable: parts.append(Self.unreadable)
        case .queue(let head): parts.append("replaced \(Self.text(head))")
        }
        parts += ["alerts from \(firstAlert)", "responses from \(firstResponse)"]
        return parts.joined(separator: "; ")
    }

    private static let unreadable = "replaced an unreadable queue"

    private static func text(_ head: AuditHead) -> String {
        head.sequence == 0 ? "none" : head.text
    }
}

extension RestoredQueue {
    /// Reads an entry's detail; `nil` if it is not a restore's.
    package init?(detail: String?) {
        guard let detail else { return nil }
        var (heads, numbers): ([String: AuditHead], [String: Int64]) = ([:], [:])
        var isUnreadable = false
        for part in detail.split(separator: ";") {
            let words = part.drop { $0 == " " }
            if words == Self.unreadable {
                isUnreadable = true
                continue
            }
            for name in ["backup ", "replaced "] where words.hasPrefix(name) {
                heads[name] = Self.head(words.dropFirst(name.count))
            }
            for name in ["alerts from ", "responses from "] where words.hasPrefix(name) {
                numbers[name] = Int64(words.dropFirst(name.count))
            }
        }
        guard let backup = heads["backup "], let firstAlert = numbers["alerts from "],
            let firstResponse = numbers["responses from "]
        else { return nil }
        self.backup = backup
        self.firstAlert = firstAlert
        self.firstResponse = firstResponse
        replaced =
            isUnreadable ? .unreadable : heads["replaced "].map(Replaced.queue) ?? .nothing
        // There is only one way to write it.
        guard self.detail.isIdentical(to: detail) else { return nil }
    }

    private static func head(_ text: Substring) -> AuditHead? {
        text == "none" ? .start : AuditHead(String(text))
    }
}
