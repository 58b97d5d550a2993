/// What the entry of a restore tells, as its detail.
///
/// `backup HEAD; replaced HEAD; alerts from N; responses from N`, where a head is
/// `SEQUENCE:HASH`, or `none` for an empty log. In the place of `replaced HEAD` stands
/// `replaced an unreadable queue`, or nothing where there was no queue. The documentation has
/// this grammar, and so it never changes.
struct RestoredQueue: Sendable, Hashable {
    /// What became of the queue that was there before.
    enum Replaced: Sendable, Hashable {
        case nothing
        case unreadable
        case queue(AuditHead)
    }

    /// The end of the log in the backup, which the entry goes on from.
    var backup: AuditHead
    var replaced: Replaced
    /// The ids and numbers that are given next.
    var firstAlert: Int64
    var firstResponse: Int64

    /// How far ids and numbers jump at least: past all that the queue has given since the backup.
    static let jump: Int64 = 1 << 32

    var detail: String {
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
    /// Reads an entry's detail; `nil` for one that no restore has.
    init?(detail: String?) {
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
        // There is one way to write it.
        guard self.detail.isIdentical(to: detail) else { return nil }
    }

    private static func head(_ text: Substring) -> AuditHead? {
        text == "none" ? .start : AuditHead(String(text))
    }
}

/// The numbers that rows of one kind were given, as the log tells of them: a restore makes them go
/// on from a number that lies far beyond.
struct GivenNumbers: Sendable, Hashable {
    /// The least number before the first restore, and the greatest of all.
    private var lowest: Int64?
    private(set) var greatest: Int64?
    /// What the first and the last restore made the numbers go on from.
    private var firstStart: Int64?
    private(set) var start: Int64?

    /// The greatest number that may have been given.
    var last: Int64 { max(greatest ?? 0, (start ?? 1) - 1) }

    /// The one after the last.
    var next: Int64 { last.addingBounded(1) }

    /// Adds a number; `false` for one that a restore had jumped over.
    mutating func add(_ number: Int64) -> Bool {
        greatest = max(greatest ?? number, number)
        guard let start else {
            lowest = min(lowest ?? number, number)
            return true
        }
        return number >= start
    }

    /// Notes a restore; `false` for one that does not jump far enough.
    mutating func go(onFrom number: Int64) -> Bool {
        let isFar = number.subtractingBounded(last) > RestoredQueue.jump
        firstStart = firstStart ?? number
        start = number
        return isFar
    }

    /// Adds those of what comes after; `false` where they don't go on from these.
    mutating func merge(_ later: GivenNumbers) -> Bool {
        let isLater = (later.lowest ?? .max) >= (start ?? .min)
        let isFar =
            later.firstStart.map { $0.subtractingBounded(last) > RestoredQueue.jump } ?? true
        if start == nil, let its = later.lowest { lowest = min(lowest ?? its, its) }
        greatest = later.greatest.map { max(greatest ?? $0, $0) } ?? greatest
        firstStart = firstStart ?? later.firstStart
        start = later.start ?? start
        return isLater && isFar
    }
}
