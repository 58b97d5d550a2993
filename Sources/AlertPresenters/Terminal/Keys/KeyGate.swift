/// Distinguishes the keys that answer an alert from those meant for something else.
///
/// An alert goes live once, when no key has come for ``silence`` while it was visible. From then on
/// keys count, except those of a paste, which come faster than anybody types, and the repeats of a
/// key that is held down. So a key that chooses is held back until no key has followed it for
/// ``repeatGap``, or until a different key shows that it was a single press.
struct KeyGate {
    /// How the keys of one read are treated.
    enum Verdict: Equatable {
        /// The alert takes no keys yet.
        case early
        /// Keys that were pasted or held down: they may move the selection, and are typed into a
        /// text that takes keys, but choose nothing.
        case burst
        /// A single key press.
        case key(Key)
    }

    /// The silence before an alert takes keys.
    static let silence = Duration.milliseconds(750)
    /// Keys that follow each other faster are pasted: 25 a second or more.
    static let pasteGap = Duration.milliseconds(40)
    /// A key that comes again within this time is held down: 7 a second or more. Linux repeats keys
    /// 10.9 times a second, X11 25 times; see kbdrate(8) and xset(1).
    static let repeatGap = Duration.milliseconds(150)

    private(set) var isLive = false
    /// Since when the alert has been visible without a key; `nil` while it isn't visible.
    private var silentSince: ContinuousClock.Instant?
    private var lastRead: ContinuousClock.Instant?
    private var lastKey: (key: Key, time: ContinuousClock.Instant)?
    private var burstEnd: ContinuousClock.Instant?

    /// Records whether the title and the buttons are visible now.
    mutating func setVisible(_ isVisible: Bool, at time: ContinuousClock.Instant) {
        silentSince = isVisible ? silentSince ?? time : nil
    }

    /// Goes live if no key has come for long enough; returns `true` if it has just done so.
    mutating func update(at time: ContinuousClock.Instant) -> Bool {
        guard !isLive, let silentSince, time >= silentSince + Self.silence else { return false }
        isLive = true
        return true
    }

    /// Records the arrival of bytes that are not a whole key yet, or not a key at all.
    mutating func typed(at time: ContinuousClock.Instant) {
        lastRead = time
        if silentSince != nil { silentSince = time }
    }

    /// Judges the keys of one read.
    ///
    /// - Parameters:
    ///   - time: When they were read.
    ///   - isContinued: Whether the first key began in an earlier read.
    ///   - isMixed: Whether the read contained more than keys, such as a bracketed paste.
    mutating func judge(
        _ keys: [Key], at time: ContinuousClock.Instant, isContinued: Bool = false,
        isMixed: Bool = false
    ) -> Verdict {
        let gap = lastRead.map { time - $0 } ?? .seconds(1)
        let before = lastKey
        defer {
            typed(at: time)
            if let key = keys.last { lastKey = (key, time) }
        }
        guard isLive, silentSince != nil else { return .early }
        let isRepeated = before.map { before in
            time - before.time < Self.repeatGap && !keys.isEmpty
                && keys.allSatisfy { $0 == before.key }
        }
        // An arrow key that is held down is not a paste, however fast it repeats.
        if isRepeated == true, keys[0].moves, !isMixed { return .burst }
        let isPasted = keys.count != 1 || isMixed || (!isContinued && gap < Self.pasteGap)
        if isPasted || burstEnd.map({ time < $0 }) == true {
            burstEnd = time + Self.repeatGap
            return .burst
        }
        return isRepeated == true ? .burst : .key(keys[0])
    }
}
