import AlertCore

/// What the entries of the audit log tell of one alert, by their numbers; 0 for none.
struct AlertTrail: Sendable {
    var asked: Int64 = 0
    var resolved: Int64 = 0
    var collected: Int64 = 0
    var erased: Int64 = 0
    var presented: Int64 = 0
    /// Whether it was shown before it was resolved.
    var wasShownBeforeEnd = false
    var cancelling: Int64 = 0
    var snoozed: Int64 = 0
    /// How many entries tell of a snooze.
    var snoozes: Int64 = 0
    /// When it was shown last, and collected.
    var presentedMilliseconds: Int64 = 0
    var collectedMilliseconds: Int64 = 0
    /// How many alerts had been resolved before this one.
    var predecessors: Int64 = 0
    /// The number that its response has.
    var number: Int64 = 0
    /// Whether its asking is told as versions before schema 5 did, and its end.
    var isAskedBefore = false
    var isEndedBefore = false
    /// Whether its erasure is told in today's form, which its row points at.
    var isErasureNamed = false

    /// Why an entry can't be: the alert has one of this kind already.
    func repeats(_ entry: AuditEntry) -> String? {
        let (first, word): (Int64, String)
        switch entry.event.kind {
        case .asked: (first, word) = (asked, "asked")
        case .resolved: (first, word) = (resolved, "resolved")
        case .collected: (first, word) = (collected, "collected")
        default: return nil
        }
        guard first > 0 else { return nil }
        return "was \(word) by entry \(first) already, and by entry \(entry.event.sequence) again"
    }

    /// Takes in what an entry tells; `count` alerts were resolved before it, and the next response
    /// has the number `next`.
    mutating func add(_ entry: AuditEntry, resolvedBefore count: Int64, next: Int64) {
        let (sequence, at) = (entry.event.sequence, Timestamp.milliseconds(entry.event.at))
        switch entry.event.kind {
        case .asked where asked == 0:
            asked = sequence
            isAskedBefore = EntryDetail.isOlder(asked: entry.detail)
        case .presented:
            (presented, presentedMilliseconds) = (sequence, at)
            if resolved == 0 { wasShownBeforeEnd = true }
        case .snoozed:
            snoozed = sequence
            snoozes += 1
        case .cancelling:
            cancelling = sequence
        case .resolved where resolved == 0:
            (resolved, predecessors, number) = (sequence, count, next)
            isEndedBefore = entry.isEndedBefore
        case .collected where collected == 0:
            (collected, collectedMilliseconds) = (sequence, at)
        default:
            break
        }
    }
}

extension AuditEntry {
    /// Whether it is written as versions before schema 5 did; `nil` for one whose form is the same.
    var isOlder: Bool? {
        switch event.kind {
        case .asked: EntryDetail.isOlder(asked: detail)
        case .erased: ErasedAlerts(detail: detail)?.left == nil
        case .resolved: isEndedBefore ? true : nil
        default: nil
        }
    }

    /// Whether it tells of an expiry or a cancel as versions before schema 5 did.
    fileprivate var isEndedBefore: Bool {
        switch event.outcome {
        case .expired: if case .older = EntryDetail.expired(detail) { true } else { false }
        case .cancelled: detail == nil
        default: false
        }
    }
}
