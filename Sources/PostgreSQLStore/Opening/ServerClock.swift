import AlertCore
import Synchronization

/// The time of a queue on a server, which all machines have in common: that of the server's clock,
/// and an offset since that was set.
///
/// A transaction that writes asks the server for the time. Between transactions it goes on as this
/// machine's boot clock does, which nobody can set. It has one boot for ever, and a transaction is
/// never earlier than the one before.
///
/// Whoever has a queue open compares the server's clock with the boot clock. One that was set, or
/// that of another server after a failover, changes nothing for deadlines: the next transaction
/// stores by how much.
package final class ServerClock: AlertClock {
    /// A moment at which both clocks were read.
    private struct Reading {
        /// The queue's time.
        let time: Int64
        /// This machine's boot clock, before the server was asked and after its answer.
        let boot: ClosedRange<Int64>

        /// The times that the queue can have had within a range of the boot clock.
        func times(at boot: ClosedRange<Int64>) -> ClosedRange<Int64> {
            let earliest = time.addingBounded(
                boot.lowerBound.subtractingBounded(self.boot.upperBound))
            let latest = time.addingBounded(
                boot.upperBound.subtractingBounded(self.boot.lowerBound))
            return earliest...max(earliest, latest)
        }
    }

    /// By how much the clocks may differ that nobody has set, in milliseconds.
    static let tolerance: Int64 = 1000
    /// How long an answer may take that says more about the clocks than the one before.
    private static let promptness: Int64 = 250
    /// After what time any answer says more, since clocks drift.
    private static let memory: Int64 = 60_000

    /// A clock to be used instead; `nil` but in tests.
    let manual: (any AlertClock)?
    private let last = Mutex<Reading?>(nil)

    package init(manual: (any AlertClock)? = nil) { self.manual = manual }

    /// The server's clock, unless a clock of another kind than this machine's is to be used, as in
    /// a test.
    package convenience init(replacing clock: any AlertClock) {
        self.init(manual: clock is SystemClock ? nil : clock)
    }

    static func reading(_ milliseconds: Int64) -> ClockReading {
        ClockReading(
            wallMilliseconds: milliseconds, bootMilliseconds: milliseconds,
            boot: ClockReading.serverBoot)
    }

    /// This machine's boot clock, for ``note(_:offset:askedAt:)``.
    var bootMilliseconds: Int64 { SystemClock().now().bootMilliseconds }

    package func now() -> ClockReading {
        if let manual { return manual.now() }
        let here = SystemClock().now()
        let last = last.withLock { $0 }
        return Self.reading(
            last.map {
                $0.time.addingBounded(
                    here.bootMilliseconds.subtractingBounded($0.boot.upperBound))
            } ?? here.wallMilliseconds)
    }

    /// Notes what the server's clock has shown, and the queue's offset; returns `false` if it was set
    /// since the last time: then the queue's time goes on as before.
    ///
    /// - Parameter start: The boot clock before the server was asked.
    @discardableResult
    func note(_ milliseconds: Int64, offset: Int64, askedAt start: Int64) -> Bool {
        let found = Reading(
            time: milliseconds.addingBounded(offset),
            boot: start...max(start, bootMilliseconds))
        return last.withLock { last in
            if let step = Self.step(to: found, since: last), step != 0 { return false }
            Self.keep(found, in: &last)
            return true
        }
    }

    /// By how much the queue's time differs from all that it can be; 0 if it does not.
    private static func step(to found: Reading, since last: Reading?) -> Int64? {
        guard let last else { return nil }
        let times = last.times(at: found.boot)
        if found.time < times.lowerBound.subtractingBounded(tolerance) {
            return found.time.subtractingBounded(times.lowerBound)
        }
        if found.time > times.upperBound.addingBounded(tolerance) {
            return found.time.subtractingBounded(times.upperBound)
        }
        return 0
    }

    /// Keeps the reading that says more.
    private static func keep(_ found: Reading, in last: inout Reading?) {
        if let last, found.boot.upperBound - found.boot.lowerBound > promptness,
            found.boot.upperBound.subtractingBounded(last.boot.upperBound) < memory
        {
            return
        }
        last = found
    }

    /// The moment of a transaction, and the queue's offset from then on.
    ///
    /// - Parameters:
    ///   - milliseconds: What the server's clock has shown.
    ///   - offset: The offset until now.
    ///   - start: The boot clock before the server was asked.
    ///   - time: The time of the transaction before.
    func moment(
        _ milliseconds: Int64, offset: Int64, askedAt start: Int64, notBefore time: Int64
    ) -> (now: ClockReading, offset: Int64) {
        if let manual { return (manual.now(), offset) }
        var found = Reading(
            time: milliseconds.addingBounded(offset),
            boot: start...max(start, bootMilliseconds))
        last.withLock { last in
            if let step = Self.step(to: found, since: last) {
                let expected = found.time.subtractingBounded(step)
                // Others have written later than that: this machine's clock stood still.
                if expected.addingBounded(Self.tolerance) >= time {
                    found = Reading(time: expected, boot: found.boot)
                } else {
                    last = nil
                }
            }
            // Without anybody who knows, time goes on from the last transaction.
            if found.time < time.subtractingBounded(Self.tolerance) {
                found = Reading(time: time, boot: found.boot)
                last = nil
            }
            Self.keep(found, in: &last)
        }
        return (
            Self.reading(max(found.time, time)), found.time.subtractingBounded(milliseconds)
        )
    }

    package func sleep(for duration: Duration) async throws {
        if let manual { return try await manual.sleep(for: duration) }
        try await Task.sleep(for: duration)
    }

    package func sleep(until moment: ClockReading) async throws {
        if let manual { return try await manual.sleep(until: moment) }
        try await sleep(for: now().time(until: moment))
    }
}
