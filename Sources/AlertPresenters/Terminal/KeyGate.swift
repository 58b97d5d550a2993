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
    private var quietSince: ContinuousClock.Instant?
    private var lastRead: ContinuousClock.Instant?
    private var lastKey: Key?
    private var burstEnd: ContinuousClock.Instant?

    /// Says whether title and buttons can be seen now.
    mutating func setVisible(_ isVisible: Bool, at time: ContinuousClock.Instant) {
        quietSince = isVisible ? quietSince ?? time : nil
    }

    /// Goes live if it has been quiet for long enough; `true` when it just has.
    mutating func update(at time: ContinuousClock.Instant) -> Bool {
        guard !isLive, let quietSince, time >= quietSince + Self.silence else { return false }
        isLive = true
        return true
    }

    /// Says that bytes have come that are no whole key yet, or none at all.
    mutating func typed(at time: ContinuousClock.Instant) {
        lastRead = time
        if quietSince != nil { quietSince = time }
    }

    /// Judges the keys of one read.
    ///
    /// - Parameters:
    ///   - time: When the read gave them.
    ///   - isContinued: Whether the reads before gave the beginning of the first key.
    mutating func judge(
        _ keys: [Key], at time: ContinuousClock.Instant, isContinued: Bool
    ) -> Verdict {
        let gap = lastRead.map { time - $0 }
        defer {
            typed(at: time)
            lastKey = keys.last ?? lastKey
        }
        guard isLive, quietSince != nil else { return .early }
        let isPasted = keys.count > 1 || (!isContinued && gap.map { $0 < Self.pasteGap } ?? false)
        let isRepeated = keys.last == lastKey && gap.map { $0 < Self.repeatGap } ?? false
        guard let key = keys.first, !isPasted, !isRepeated, burstEnd.map({ time >= $0 }) ?? true
        else {
            burstEnd = time + Self.repeatGap
            return .burst
        }
        return .key(key)
    }
}
