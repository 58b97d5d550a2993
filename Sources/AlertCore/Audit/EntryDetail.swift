import FoundationEssentials

/// The detail texts of audit entries.
///
/// The documentation specifies their grammar. They are compared with rows, so they never change.
package enum EntryDetail {
    /// The detail of an ask: the deadline, the timers, the clocks by which they count, and what
    /// must be known of the alert once its texts have been erased.
    package static func asked(
        at asked: ClockReading, expiry: ClockReading?, dismissAfter: Duration?, snooze: Duration?,
        leaves: [UInt8], key: KeyDigest?
    ) -> String {
        let terms = askedTerms(
            dismissAfter: dismissAfter, snooze: snooze, leaves: leaves, key: key)
        return Self.asked(expiry: expiry, terms: terms, moment: askedMoment(asked))
    }

    /// The part of an ask's detail that is known before the ask is stored.
    package static func askedTerms(
        dismissAfter: Duration?, snooze: Duration?, leaves: [UInt8], key: KeyDigest?
    ) -> String {
        var text = ""
        if let dismissAfter { text += "dismiss after \(dismissAfter.milliseconds) ms; " }
        if let snooze { text += "snooze \(snooze.milliseconds) ms; " }
        text += "leaves \(Hex.text(leaves)); "
        if let key { text += "key \(Hex.text(key.salt)) \(Hex.text(key.hash)); " }
        return text
    }

    /// The part of an ask's detail that says when it was stored.
    ///
    /// The boot comes last: it is the only part that may be any text.
    package static func askedMoment(_ asked: ClockReading) -> String {
        "asked at " + moment(asked)
    }

    /// The detail of an ask whose ``askedTerms(dismissAfter:snooze:leaves:key:)`` and
    /// ``askedMoment(_:)`` are known.
    package static func asked(expiry: ClockReading?, terms: String, moment: String) -> String {
        guard let expiry else { return terms + moment }
        return "\(deadline(expiry)), \(clock(of: expiry)); " + terms + moment
    }

    /// The detail of an ask as versions before schema 5 wrote it: the deadline, or nothing.
    ///
    /// Those versions had no deadlines on the wall clock.
    package static func askedBefore(expiry: ClockReading?) -> String? {
        expiry.map { $0.isOnWallClock ? "" : deadline($0) }
    }

    /// Whether an ask's detail has the older form, which contains less.
    package static func isOlder(asked detail: String?) -> Bool {
        !(detail?.hasBytes(of: "asked at ") ?? false)
    }

    /// The detail of a snooze: its end.
    package static func snoozed(until end: ClockReading) -> String {
        "until \(time(end)), " + (end.isOnWallClock ? "wall clock" : "boot clock \(moment(end))")
    }

    /// The detail of an expiry: why it came before the deadline, if it did; whether the alert was
    /// never on a screen; and the clock by which the deadline had passed.
    package static func expired(
        at now: ClockReading, because reason: String?, isUnseen: Bool
    ) -> String {
        (reason.map { "\($0); " } ?? "") + (isUnseen ? "\(unseen); " : "")
            + "expired at \(moment(now))"
    }

    /// Why an alert expires before its deadline.
    static let nobodyThere = "nobody was there"
    private static let unseen = "unseen"

    /// The detail of a cancel: whether the delegate handled it.
    package static func cancelled(isHandled: Bool) -> String {
        isHandled ? "handled by the delegate" : "the cancel button was simulated"
    }

    /// The detail of a step of a command.
    package static func ran(_ step: RunStep) -> String {
        switch step {
        case .started: "started"
        case .exited(let status): "exit status \(status)"
        case .signalled(let signal): "ended by signal \(signal)"
        case .failed(let reason): "not started: \(reason)"
        }
    }

    private static func deadline(_ expiry: ClockReading) -> String { "expires \(time(expiry))" }

    private static func clock(of expiry: ClockReading) -> String {
        expiry.isOnWallClock ? "wall clock" : "boot clock \(expiry.bootMilliseconds) ms"
    }

    private static func time(_ reading: ClockReading) -> String {
        Timestamp.text(Timestamp.date(milliseconds: reading.wallMilliseconds))
    }

    /// A time of the boot clock, and the boot that it belongs to.
    private static func moment(_ reading: ClockReading) -> String {
        "\(reading.bootMilliseconds) ms in boot \(reading.boot)"
    }
}

// MARK: - Parsing

extension EntryDetail {
    /// The digest of what an alert with a key asked; `nil` without one.
    package static func key(asked detail: String?) -> KeyDigest? {
        guard let detail, let start = detail.firstRange(of: "; key ") else { return nil }
        let words = detail[start.upperBound...].prefix { $0 != ";" }.split(separator: " ")
        guard words.count == 2, let salt = Hex.bytes(words[0]), let hash = Hex.bytes(words[1])
        else { return nil }
        return KeyDigest(salt: salt, hash: hash)
    }

    /// A detail as people read it: without hashes, and with times in the given form.
    package static func forPeople(_ detail: String?, _ form: LocalTime.Form) -> String? {
        guard let detail, let end = detail.firstRange(of: "asked at ") else {
            return detail.map { retimed($0, after: "until ", form) }
        }
        let parts = detail[..<end.lowerBound].split(separator: "; ").filter { part in
            !part.hasPrefix("leaves ") && !part.hasPrefix("key ")
        }
        return parts.map { retimed(String($0), after: "expires ", form) + "; " }.joined()
            + detail[end.lowerBound...]
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

    /// Whether a snooze's detail names this end, in the current form or in the older one, which had
    /// no boot clock.
    package static func isSnoozed(_ detail: String?, until end: ClockReading) -> Bool {
        guard Timestamp.plain.contains(end.wallMilliseconds) else { return false }
        return detail.isIdentical(to: snoozed(until: end))
            || (!end.isOnWallClock && detail.isIdentical(to: "until \(time(end))"))
    }

    /// The end of a snooze on the boot clock, and its boot; `nil` in the older form.
    static func snoozeEnd(_ detail: String?) -> (bootMilliseconds: Int64, boot: String)? {
        guard let detail, let comma = detail.firstRange(of: ", boot clock ") else { return nil }
        return moment(detail[comma.upperBound...])
    }

    /// Whether a snooze may be over by now.
    ///
    /// No entry records the end. Within the same boot, the boot clock says whether it can have
    /// come; after a restart of the machine the wall clock decided, and it may have been set since.
    package static func mayHaveEnded(snooze detail: String?, at now: ClockReading) -> Bool {
        guard let end = snoozeEnd(detail), end.boot.isIdentical(to: now.boot) else { return true }
        return end.bootMilliseconds <= now.bootMilliseconds
    }

    /// The contents of an expiry's detail.
    package enum Expired: Equatable {
        /// Nothing about its clock, as versions before schema 5 wrote it.
        case older(isEarly: Bool)
        case recorded(isEarly: Bool, isUnseen: Bool, bootMilliseconds: Int64, boot: String)
    }

    /// Reads an expiry's detail; `nil` if it is not one.
    package static func expired(_ detail: String?) -> Expired? {
        guard var rest = detail.map({ $0[...] }) else { return .older(isEarly: false) }
        if rest == nobodyThere { return .older(isEarly: true) }
        let isEarly = rest.hasPrefix(nobodyThere + "; ")
        if isEarly { rest = rest.dropFirst(nobodyThere.count + 2) }
        let isUnseen = rest.hasPrefix(unseen + "; ")
        if isUnseen { rest = rest.dropFirst(unseen.count + 2) }
        let start = "expired at "
        guard rest.hasPrefix(start), let end = moment(rest.dropFirst(start.count)) else {
            return nil
        }
        return .recorded(
            isEarly: isEarly, isUnseen: isUnseen, bootMilliseconds: end.bootMilliseconds,
            boot: end.boot)
    }

    /// Whether a cancel's detail says that a delegate handled it; `nil` in the older form.
    package static func isHandled(_ detail: String?) -> Bool? {
        detail.map { $0 == cancelled(isHandled: true) }
    }

    /// Reads `N ms in boot B`.
    private static func moment(
        _ text: Substring
    ) -> (bootMilliseconds: Int64, boot: String)? {
        guard let middle = text.firstRange(of: " ms in boot "),
            let milliseconds = Int64(text[..<middle.lowerBound])
        else { return nil }
        return (milliseconds, String(text[middle.upperBound...]))
    }
}
