import AlertCore

/// The log's entries for one alert, by sequence number; 0 if there is none.
struct AlertTrail: Sendable {
    var asked: Int64 = 0
    var resolved: Int64 = 0
    var collected: Int64 = 0
    /// The first entry that records a command.
    var ran: Int64 = 0
    var erased: Int64 = 0
    var presented: Int64 = 0
    /// Whether it was shown before it was resolved.
    var wasShownBeforeEnd = false
    var cancelling: Int64 = 0
    var snoozed: Int64 = 0
    /// How many entries record a snooze.
    var snoozes: Int64 = 0
    /// When it was last shown, and when it was collected.
    var presentedMilliseconds: Int64 = 0
    var collectedMilliseconds: Int64 = 0
    /// How many alerts had been resolved before this one.
    var predecessors: Int64 = 0
    /// The number of its response.
    var number: Int64 = 0
    /// Whether the entries of its ask and of its end have the form of versions before schema 5.
    var isAskedBefore = false
    var isEndedBefore = false
    /// Whether its erasure has the current form of entry, which its row refers to.
    var isErasureNamed = false

    /// Why an entry is invalid: the alert already has one of this kind.
    func repeats(_ entry: AuditEntry) -> String? {
        let (first, word): (Int64, String)
        switch entry.event.kind {
        case .asked: (first, word) = (asked, "asked")
        case .resolved: (first, word) = (resolved, "resolved")
        case .collected: (first, word) = (collected, "collected")
        default: return nil
        }
        guard first > 0 else { return nil }
        return "was already \(word) by entry \(first), and again by entry \(entry.event.sequence)"
    }

    /// Adds an entry; `count` alerts were resolved before it, and the next response has the number
    /// `next`.
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
        case .ran where ran == 0:
            ran = sequence
        default:
            break
        }
    }
}

extension AuditEntry {
    /// Whether it has the form of versions before schema 5; `nil` if both forms are the same.
    var isOlder: Bool? {
        switch event.kind {
        case .asked: EntryDetail.isOlder(asked: detail)
        case .erased: ErasedAlerts(detail: detail)?.left == nil
        case .resolved: isEndedBefore ? true : nil
        default: nil
        }
    }

    /// Whether it is an expiry or a cancel in the form of versions before schema 5.
    fileprivate var isEndedBefore: Bool {
        switch event.outcome {
        case .expired: if case .older = EntryDetail.expired(detail) { true } else { false }
        case .cancelled: detail == nil
        default: false
        }
    }
}
