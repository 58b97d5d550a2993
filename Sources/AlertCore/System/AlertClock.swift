/// The time, as an alert queue needs it; replaced by a manual clock in tests.
public protocol AlertClock: Sendable {
    /// What all clocks say now.
    func now() -> ClockReading

    /// Waits for a length of monotonic time; not at all for zero or less.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Waits until the clock has reached a moment; not at all if it has passed.
    ///
    /// A timer whose end is known before its task runs waits this way: what the clock does between
    /// the decision and the wait is then part of the wait. A clock that a test moves needs its own
    /// implementation for that; a clock that moves by itself can do with the default.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until moment: ClockReading) async throws
}

extension AlertClock {
    /// Waits by ``sleep(for:)`` for the time that is left.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until moment: ClockReading) async throws {
        try await sleep(for: now().time(until: moment))
    }
}

extension AlertClock where Self == SystemClock {
    /// The clocks of the machine.
    public static var system: SystemClock { SystemClock() }
}
