/// Tells the keys that answer an alert from those that were meant for something else.
///
/// An alert goes live once, when no key has come for ``silence`` while it can be seen. From then on
/// a key counts, but not one of a paste, which comes faster than fingers type, nor one of a key
/// that is held down and repeats itself. So a key that chooses is held back until it has stood
/// alone for ``repeatGap``, or until another key shows that it did.
struct KeyGate {
    /// What becomes of the keys of one read.
    enum Verdict: Equatable {
        /// The alert takes no keys yet.
        case early
        /// One of many, pasted or held down: they may move about, and choose nothing.
        case burst
        /// A key by itself.
        case key(Key)
    }

    /// The silence before an alert takes keys.
    static let silence = Duration.milliseconds(750)
    /// Keys that come closer to each other are pasted: 25 a second and more.
    static let pasteGap = Duration.milliseconds(40)
    /// The same key so soon again is held down: 7 a second and more. Linux repeats keys 10.9 times
    /// a second, X11 25 times; see kbdrate(8) and xset(1).
    static let repeatGap = Duration.milliseconds(150)

    private(set) var isLive = false
    /// Since when the alert can be seen and no key has come; `nil` while it can't be seen.
    private var silentSince: ContinuousClock.Instant?
    private var lastRead: ContinuousClock.Instant?
    private var lastKey: (key: Key, time: ContinuousClock.Instant)?
    private var burstEnd: ContinuousClock.Instant?

    /// Says whether title and buttons can be seen now.
    mutating func setVisible(_ isVisible: Bool, at time: ContinuousClock.Instant) {
        silentSince = isVisible ? silentSince ?? time : nil
    }

    /// Goes live if no key has come for long enough; `true` when it just has.
    mutating func update(at time: ContinuousClock.Instant) -> Bool {
        guard !isLive, let silentSince, time >= silentSince + Self.silence else { return false }
        isLive = true
        return true
    }

    /// Says that bytes have come that are no whole key yet, or none at all.
    mutating func typed(at time: ContinuousClock.Instant) {
        lastRead = time
        if silentSince != nil { silentSince = time }
    }

    /// Judges the keys of one read.
    ///
    /// - Parameters:
    ///   - time: When the read gave them.
    ///   - isContinued: Whether the reads before gave the beginning of the first key.
    ///   - isMixed: Whether the read gave more than keys, such as text that is marked as pasted.
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
        // An arrow that is held down is no paste, however fast it repeats.
        if isRepeated == true, keys[0].moves, !isMixed { return .burst }
        let isPasted = keys.count != 1 || isMixed || (!isContinued && gap < Self.pasteGap)
        if isPasted || burstEnd.map({ time < $0 }) == true {
            burstEnd = time + Self.repeatGap
            return .burst
        }
        return isRepeated == true ? .burst : .key(keys[0])
    }
}
