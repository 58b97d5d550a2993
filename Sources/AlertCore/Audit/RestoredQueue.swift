import TextFormats

/// The contents of a restore's audit entry, stored as its detail.
///
/// `backup HEAD; replaced HEAD; alerts from N`, where a head is `SEQUENCE:HASH`, or `none` for an
/// empty log. Instead of `replaced HEAD` there is `replaced an unreadable queue`, or nothing if
/// there was no queue. A queue on a server has `on another server`, where its tables were restored
/// or replicated, or `on another timeline`, after a failover. `; problems in entries 5, 9-12` follows
/// if the backup was restored although these entries, which are about no alert, were found wrong.
/// The documentation has this grammar, so it never changes.
package struct RestoredQueue: Sendable, Hashable {
    /// What happened to the queue that was there before.
    package enum Replaced: Sendable, Hashable {
        case nothing
        case unreadable
        case queue(AuditHead)
        /// The queue itself, which goes on in another database: what was written in the one before
        /// since is not known.
        case server
        /// The queue itself, whose server goes on after a failover: what did not reach it is lost.
        case timeline
    }

    /// The end of the log in the backup, which the entry continues.
    package var backup: AuditHead
    package var replaced: Replaced
    /// The lowest id that the next alert may get.
    package var firstAlert: Int64
    /// The entries that were found wrong before, and are about no alert.
    private(set) var problems: NumberList?

    /// - Parameter problems: Numbers of entries, in ascending order.
    package init(
        backup: AuditHead, replaced: Replaced, firstAlert: Int64, problems: [Int64] = []
    ) {
        self.backup = backup
        self.replaced = replaced
        self.firstAlert = firstAlert
        self.problems = problems.isEmpty ? nil : NumberList(problems)
    }

    /// The minimum jump of ids: past all that the queue has assigned since the backup.
    package static let jump: Int64 = 1 << 32

    /// A queue that goes on in another database, or after a failover of its server.
    ///
    /// - Parameters:
    ///   - head: The end of its log.
    ///   - last: The greatest id that may have been given.
    package static func elsewhere(
        _ replaced: Replaced, after head: AuditHead, lastAlert last: Int64
    ) -> RestoredQueue {
        // What a failover loses are the ids of seconds.
        let million: Int64 = 1_000_000
        let millions = min(last.addingBounded(million / 10) / million + 1, .max / million)
        return RestoredQueue(
            backup: head, replaced: replaced,
            firstAlert: replaced == .timeline ? millions * million : last.addingBounded(jump + 1))
    }

    package var detail: String {
        var parts = ["backup \(Self.text(backup))"]
        switch replaced {
        case .nothing: break
        case .unreadable: parts.append(Self.unreadable)
        case .queue(let head): parts.append("replaced \(Self.text(head))")
        case .server: parts.append(Self.server)
        case .timeline: parts.append(Self.timeline)
        }
        parts.append("alerts from \(firstAlert)")
        if let problems { parts.append(Self.problems + problems.text) }
        return parts.joined(separator: "; ")
    }

    private static let problems = "problems in entries "
    private static let unreadable = "replaced an unreadable queue"
    private static let server = "on another server"
    private static let timeline = "on another timeline"

    private static func text(_ head: AuditHead) -> String {
        head.sequence == 0 ? "none" : head.text
    }
}

extension RestoredQueue {
    /// Reads an entry's detail; `nil` if it is not a restore's.
    package init?(detail: String?) {
        guard let detail else { return nil }
        var (heads, first): ([String: AuditHead], Int64?) = ([:], nil)
        var known: Replaced?
        let number = "alerts from "
        for part in detail.split(separator: ";") {
            let words = part.drop { $0 == " " }
            if let name = Self.names[String(words)] {
                known = name
                continue
            }
            for name in ["backup ", "replaced "] where words.hasPrefix(name) {
                heads[name] = Self.head(words.dropFirst(name.count))
            }
            if words.hasPrefix(number) { first = Int64(words.dropFirst(number.count)) }
            if words.hasPrefix(Self.problems) {
                problems = NumberList(words.dropFirst(Self.problems.count))
            }
        }
        guard let backup = heads["backup "], let first else { return nil }
        self.backup = backup
        firstAlert = first
        replaced = known ?? heads["replaced "].map(Replaced.queue) ?? .nothing
        // There is only one way to write it.
        guard self.detail.isIdentical(to: detail) else { return nil }
    }

    private static let names = [
        unreadable: Replaced.unreadable, server: .server, timeline: .timeline,
    ]

    private static func head(_ text: Substring) -> AuditHead? {
        text == "none" ? .start : AuditHead(String(text))
    }
}
