import AlertCore
import Synchronization

/// The clock of the database server, which all machines have in common.
///
/// A transaction that writes asks the server for the time. Between transactions it is as far ahead
/// of this machine's boot clock as it was found to be last. It has one boot for ever: whatever the
/// server says, what is due is decided by its wall clock, and a transaction is never earlier than
/// the one before.
package final class ServerClock: AlertClock {
    /// The name of the clock in the log.
    static let boot = "postgresql"

    /// A clock to be used instead; `nil` but in tests.
    let manual: (any AlertClock)?
    /// How far the server is ahead of this machine's boot clock, in milliseconds.
    private let lead = Mutex<Int64?>(nil)

    package init(manual: (any AlertClock)? = nil) { self.manual = manual }

    /// The server's clock, unless a clock of another kind than this machine's is to be used, as in
    /// a test.
    package convenience init(replacing clock: any AlertClock) {
        self.init(manual: clock is SystemClock ? nil : clock)
    }

    static func reading(_ milliseconds: Int64) -> ClockReading {
        ClockReading(
            wallMilliseconds: milliseconds, bootMilliseconds: milliseconds, boot: boot)
    }

    package func now() -> ClockReading {
        if let manual { return manual.now() }
        let here = SystemClock().now()
        let lead = lead.withLock { $0 }
        return Self.reading(
            lead.map { here.bootMilliseconds.addingBounded($0) } ?? here.wallMilliseconds)
    }

    /// Notes what the server's clock shows now.
    func note(_ milliseconds: Int64) {
        let here = SystemClock().now().bootMilliseconds
        lead.withLock { $0 = milliseconds.subtractingBounded(here) }
    }

    /// The moment of a transaction, when the server's clock has shown a time.
    ///
    /// - Parameter last: The time of the transaction before.
    func moment(_ milliseconds: Int64, notBefore last: Int64) -> ClockReading {
        if let manual { return manual.now() }
        note(milliseconds)
        return Self.reading(max(milliseconds, last))
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
