/// The time source of an alert queue; tests replace it with a manual clock.
public protocol AlertClock: Sendable {
    /// Returns the current reading of all clocks.
    func now() -> ClockReading

    /// Whether something keeps the wall clock right, such as NTP; `true` unless a clock implements
    /// it. A clock that nobody keeps may be years ahead, as after a dead battery.
    var isSynchronized: Bool { get }

    /// Waits for a duration of monotonic time; returns at once if it is zero or negative.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Waits until the clock has reached a moment; returns at once if that has passed.
    ///
    /// A timer whose end is known before its task runs waits this way, so that time which passes
    /// between the decision and the wait is part of the wait. A clock that is moved by a test needs
    /// its own implementation of this; for a clock that moves by itself the default is enough.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until moment: ClockReading) async throws
}

extension AlertClock {
    public var isSynchronized: Bool { true }

    /// Waits with ``sleep(for:)`` for the remaining time.
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
