import TextFormats

/// What the entry of a restore says: where the log goes on from, what was there before, and which
/// ids come next.
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
}

extension RestoredQueue {
    /// What the entry's detail has. A head is `SEQUENCE:HASH`, or `none` for an empty log.
    var members: [(key: String, value: JSONValue)] {
        var members: [(key: String, value: JSONValue)] = [
            ("backup", .string(Self.text(backup))), ("first_alert", .integer(firstAlert)),
        ]
        if let problems { members.append(("problems", problems.json)) }
        switch replaced {
        case .nothing: break
        case .unreadable: members.append(("replaced", .string("unreadable")))
        case .queue(let head): members.append(("replaced", .string(Self.text(head))))
        case .server: members.append(("replaced", .string("server")))
        case .timeline: members.append(("replaced", .string("timeline")))
        }
        return members
    }

    init?(_ members: inout MemberReader) {
        guard let backup = members.string("backup").flatMap(Self.head),
            let first = members.integer("first_alert")
        else { return nil }
        self.backup = backup
        firstAlert = first
        if let ends = members.integers("problems") {
            guard let problems = NumberList(ends: ends) else { return nil }
            self.problems = problems
        }
        switch members.string("replaced") {
        case nil: replaced = .nothing
        case "unreadable": replaced = .unreadable
        case "server": replaced = .server
        case "timeline": replaced = .timeline
        case let text?:
            guard let head = Self.head(text) else { return nil }
            replaced = .queue(head)
        }
    }

    var words: String {
        var parts = ["backup \(Self.text(backup))"]
        switch replaced {
        case .nothing: break
        case .unreadable: parts.append("replaced an unreadable queue")
        case .queue(let head): parts.append("replaced \(Self.text(head))")
        case .server: parts.append("on another server")
        case .timeline: parts.append("on another timeline")
        }
        parts.append("alerts from \(firstAlert)")
        if let problems { parts.append("problems in entries " + problems.text) }
        return parts.joined(separator: "; ")
    }

    private static func text(_ head: AuditHead) -> String {
        head.sequence == 0 ? "none" : head.text
    }

    private static func head(_ text: String) -> AuditHead? {
        guard let head = text == "none" ? .start : AuditHead(text), Self.text(head) == text else {
            return nil
        }
        return head
    }
}
