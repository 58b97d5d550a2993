import AlertCore
import Glibc

/// A sign of life that a screen writes into the slot file once a second.
///
/// A lock proves that its holder has not died. But a stopped process keeps its locks, and shows
/// nothing to anyone.
struct Heartbeat {
    /// After this time without a sign, a screen is considered absent.
    static let silence = Duration.seconds(5)

    /// Milliseconds on a clock that stops while the machine, and the writer with it, is suspended;
    /// see clock_gettime(2), `CLOCK_MONOTONIC`.
    private let milliseconds: Int64
    /// The time namespace of that clock. The boot is this one: the writer still holds its lock.
    private let namespace: String

    /// This moment.
    static var now: Heartbeat {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Heartbeat(
            milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000,
            namespace: SystemClock.namespace)
    }

    private init(milliseconds: Int64, namespace: String) {
        self.milliseconds = milliseconds
        self.namespace = namespace
    }

    /// Reads a line of a slot's text; `nil` if it is something else.
    init?(line: some StringProtocol) {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let milliseconds = Int64(parts[0]) else { return nil }
        self.init(milliseconds: milliseconds, namespace: String(parts[1]))
    }

    /// The line; its length stays the same for as long as the machine runs, so that it can
    /// overwrite the previous one.
    var line: [UInt8] {
        let digits = String(milliseconds)
        let zeros = String(repeating: "0", count: max(0, 16 - digits.count))
        return Array((zeros + digits + " " + namespace + "\n").utf8)
    }

    /// How long ago it was; `nil` for a sign that can't be compared with this moment, such as one
    /// of a process in another time namespace.
    func age(at now: Heartbeat = .now) -> Duration? {
        guard namespace == now.namespace else { return nil }
        return .milliseconds(now.milliseconds.subtractingBounded(milliseconds))
    }

    /// How long ago it was, if that is too long for a running process; a sign that can't be
    /// compared counts as recent.
    func overdue(at now: Heartbeat = .now) -> Duration? {
        age(at: now).flatMap { $0 >= Self.silence ? $0 : nil }
    }
}
