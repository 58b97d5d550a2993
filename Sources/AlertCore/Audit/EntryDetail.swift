import FoundationEssentials
import Glibc
import TextFormats

/// The detail texts of audit entries.
///
/// The documentation specifies their grammar. They are compared with rows, so they never change. The
/// log keeps them for ever, so that they have no text of an alert, and nothing that anybody typed,
/// but for the reason of a withdrawal.
package enum EntryDetail {
    /// The detail of an ask: the deadline, the timers, the clocks by which they count, whether the
    /// asker waits, and what must be known of the alert once its texts have been erased.
    package static func asked(
        at asked: ClockReading, expiry: ClockReading?, dismissAfter: Duration?, snooze: Duration?,
        validFor: Duration?, isAwaited: Bool, leaves: [UInt8], key: KeyDigest?
    ) -> String {
        let terms = askedTerms(
            dismissAfter: dismissAfter, snooze: snooze, validFor: validFor, isAwaited: isAwaited,
            leaves: leaves, key: key)
        return Self.asked(at: asked, expiry: expiry, terms: terms)
    }

    /// The part of an ask's detail that is known before the ask is stored.
    package static func askedTerms(
        dismissAfter: Duration?, snooze: Duration?, validFor: Duration?, isAwaited: Bool,
        leaves: [UInt8], key: KeyDigest?
    ) -> String {
        var text = ""
        if let dismissAfter { text += "dismiss after \(dismissAfter.milliseconds) ms; " }
        if let snooze { text += "snooze \(snooze.milliseconds) ms; " }
        if let validFor { text += "valid for \(validFor.milliseconds) ms; " }
        if isAwaited { text += "awaited; " }
        text += "leaves \(Hex.text(leaves)); "
        if let key { text += "key \(Hex.text(key.salt)) \(Hex.text(key.hash)); " }
        return text
    }

    /// The detail of an ask whose ``askedTerms(dismissAfter:snooze:validFor:isAwaited:leaves:key:)`` are
    /// known.
    package static func asked(
        at asked: ClockReading, expiry: ClockReading?, terms: String
    ) -> String {
        (expiry.map { "expires \(end($0)); " } ?? "") + terms
            + "\(askedStart)\(asked.bootMilliseconds) ms"
    }

    /// The detail of a snooze: its end.
    package static func snoozed(until end: ClockReading) -> String {
        "until \(Self.end(end))"
    }

    /// The detail of an expiry: why it came before the deadline, if it did; whether the alert was
    /// never on a screen; and the clock by which the deadline had passed.
    package static func expired(
        at now: ClockReading, because reason: String?, isUnseen: Bool
    ) -> String {
        (reason.map { "\($0); " } ?? "") + (isUnseen ? "\(unseen); " : "")
            + "expired at \(now.bootMilliseconds) ms"
    }

    /// Why an alert expires before its deadline.
    static let nobodyThere = "nobody was there"
    private static let unseen = "unseen"

    /// The detail of a cancel: whether the delegate handled it.
    package static func cancelled(isHandled: Bool) -> String {
        isHandled ? "handled by the delegate" : "the cancel button was simulated"
    }

    /// The detail of the entry that names the alert that was asked in another's place.
    package static func superseded(by id: Alert.ID) -> String { "by \(id)" }

    /// The detail of an answer that goes stale, or comes with values or a note: when it was given by
    /// the boot clock, and the hash of what came with it, salted with the alert's salt.
    package static func answered(
        _ response: Response, of record: AlertRecord, givenAt: ClockReading?
    ) -> String? {
        let given = givenAt.map { "\(givenStart)\($0.bootMilliseconds) ms" }
        let parts = [given, values(response, of: record)].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static let givenStart = "given at "

    private static func values(_ response: Response, of record: AlertRecord) -> String? {
        let input = response.input
        guard !input.isEmpty, let salt = record.salt else { return nil }
        let hash = HashInput("alertq-values-1")
        hash.append(hex: salt)
        hash.append(input.note)
        hash.append(input.text(for: record.alert.fields))
        return "values \(Hex.text(hash.hash))"
    }

    /// The detail of a step of a command.
    package static func ran(_ step: RunStep) -> String {
        switch step {
        case .started: "started"
        case .exited(let status): "exit status \(status)"
        case .signalled(let signal): "ended by signal \(signal)"
        case .changed: "not started: the command has changed"
        case .refused(let code): "not started: \(String(cString: strerror(code)))"
        }
    }

    /// The detail of a step of a server's clock: by how much it was set, and how far the time of the
    /// queue is ahead of it since then, in milliseconds.
    package static func clock(step: Int64, offset: Int64) -> String {
        "the server's clock was set by \(step) ms; \(clockStart)\(offset) ms"
    }

    private static let clockStart = "the queue's time is ahead of it by "

    /// How far the queue's time is ahead of the server's clock, in milliseconds, since that was set;
    /// `nil` if a detail does not say so.
    package static func clockOffset(_ detail: String?) -> Int64? {
        guard let detail, let start = detail.firstRange(of: clockStart) else { return nil }
        return milliseconds(detail[start.upperBound...])
    }

    /// A deadline or the end of a snooze, and the clock that decides whether it has come.
    private static func end(_ end: ClockReading) -> String {
        let time = Timestamp.text(Timestamp.date(milliseconds: end.wallMilliseconds))
        let clock = end.isOnWallClock ? "wall clock" : "boot clock \(end.bootMilliseconds) ms"
        return "\(time), \(clock)"
    }
}

// MARK: - Parsing

extension EntryDetail {
    /// The digest of what an alert with a key asked; `nil` without one.
    package static func key(asked detail: String?) -> KeyDigest? {
        // Read for each row of a page of the history, which searching for a text would slow down.
        let parts = detail?.utf8.split(separator: UInt8(ascii: ";")).dropFirst()
        guard let part = parts?.first(where: { $0.starts(with: " key ".utf8) }) else { return nil }
        let words = part.split(separator: UInt8(ascii: " "))
        guard words.count == 3, let salt = Hex.bytes(Substring(words[1])),
            let hash = Hex.bytes(Substring(words[2]))
        else { return nil }
        return KeyDigest(salt: salt, hash: hash)
    }

    /// An entry's detail as people read it: without hashes and times since the boot, and with
    /// dates in the given form; `nil` if nothing is left.
    package static func forPeople(_ entry: AuditEntry, _ form: LocalTime.Form) -> String? {
        guard let detail = entry.detail else { return nil }
        switch entry.event.kind {
        case .asked:
            let parts = detail.split(separator: "; ").filter { part in
                !["leaves ", "key ", askedStart].contains { part.hasPrefix($0) }
            }
            let text = parts.map { retimed(String($0), after: "expires ", form) }
            return text.isEmpty ? nil : text.joined(separator: "; ")
        case .snoozed: return retimed(detail, after: "until ", form)
        case .resolved where detail.hasPrefix("values ") || detail.hasPrefix(givenStart): return nil
        default: return detail
        }
    }

    /// A text that begins with a word and a time, with the time in another form.
    private static func retimed(
        _ text: String, after word: String, _ form: LocalTime.Form
    ) -> String {
        guard text.hasPrefix(word) else { return text }
        let rest = text.dropFirst(word.count)
        let time = rest.prefix { $0 != "," }
        guard let date = Timestamp.date(String(time)) else { return text }
        return word + LocalTime.text(date, form) + rest.dropFirst(time.count)
    }

    /// The end of a snooze in milliseconds of the boot clock; `nil` for a moment.
    static func snoozeEnd(_ detail: String?) -> Int64? {
        guard let detail, let comma = detail.firstRange(of: ", boot clock ") else { return nil }
        return milliseconds(detail[comma.upperBound...])
    }

    /// When an answer was given by the boot clock, in milliseconds; `nil` where it isn't said.
    static func given(_ detail: String?) -> Int64? {
        guard let detail, detail.hasPrefix(givenStart) else { return nil }
        return milliseconds(detail.dropFirst(givenStart.count).prefix { $0 != ";" })
    }

    /// When an alert was asked by the boot clock, in milliseconds; `nil` for the detail of another
    /// entry.
    static func asked(_ detail: String?) -> Int64? {
        guard let last = detail?.split(separator: "; ").last, last.hasPrefix(askedStart) else {
            return nil
        }
        return milliseconds(last.dropFirst(askedStart.count))
    }

    private static let askedStart = "asked at "

    /// The contents of an expiry's detail.
    package struct Expired: Equatable {
        /// Whether it came before the deadline, because nobody was there.
        package let isEarly: Bool
        /// Whether the alert was never on a screen.
        package let isUnseen: Bool
        package let bootMilliseconds: Int64
    }

    /// Reads an expiry's detail; `nil` if it is not one.
    package static func expired(_ detail: String?) -> Expired? {
        guard var rest = detail.map({ $0[...] }) else { return nil }
        let isEarly = rest.hasPrefix(nobodyThere + "; ")
        if isEarly { rest = rest.dropFirst(nobodyThere.count + 2) }
        let isUnseen = rest.hasPrefix(unseen + "; ")
        if isUnseen { rest = rest.dropFirst(unseen.count + 2) }
        let start = "expired at "
        guard rest.hasPrefix(start), let end = milliseconds(rest.dropFirst(start.count)) else {
            return nil
        }
        return Expired(isEarly: isEarly, isUnseen: isUnseen, bootMilliseconds: end)
    }

    /// Whether a cancel's detail says that a delegate handled it; `nil` if it is not a cancel's.
    package static func isHandled(_ detail: String?) -> Bool? {
        [true, false].first { detail.isIdentical(to: cancelled(isHandled: $0)) }
    }

    /// Reads `N ms`.
    private static func milliseconds(_ text: Substring) -> Int64? {
        text.hasSuffix(" ms") ? Int64(text.dropLast(3)) : nil
    }
}
