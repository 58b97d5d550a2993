import AlertCore
import Synchronization

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = ManualClock()
/// let manager = try await AlertManager(path: path, clock: clock)
/// let lunch = Alert("Lunch?", buttons: ["Yes"], deadline: .after(.seconds(3600)))
/// try await manager.show(lunch)
/// clock.advance(by: .seconds(3600))  // Now it can no longer be answered.
/// ```
public final class ManualClock: AlertClock {
    private struct Sleeper {
        let wakeTime: Int64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var reading: ClockReading
        var isSynchronized = true
        var nextID: UInt64 = 0
        var sleepers: [UInt64: Sleeper] = [:]
        var cancelled: Set<UInt64> = []
        var onChange: (@Sendable (ClockReading) -> Void)?
    }

    private let state: Mutex<State>

    /// Creates a clock, which starts at 2026-01-01 in UTC unless another time is given.
    public init(
        _ reading: ClockReading = ClockReading(
            wallMilliseconds: 1_767_225_600_000, bootMilliseconds: 1_000_000, boot: "manual")
    ) {
        state = Mutex(State(reading: reading))
    }

    /// Returns the time that the test has set, or the initial one.
    public func now() -> ClockReading {
        state.withLock { $0.reading }
    }

    /// The number of tasks that sleep on this clock now.
    public var sleeperCount: Int {
        state.withLock { $0.sleepers.count }
    }

    /// Calls a closure with the reading now, and after each change before the call that makes it
    /// returns.
    package func whenSet(_ body: @escaping @Sendable (ClockReading) -> Void) {
        change { $0.onChange = body }
    }

    private func change<Result>(_ body: (inout State) -> sending Result) -> sending Result {
        let (result, onChange, reading) = state.withLock { state in
            let result = body(&state)
            return (result, state.onChange, state.reading)
        }
        onChange?(reading)
        return result
    }

    /// Moves all clocks forward, and wakes the tasks that have slept long enough.
    public func advance(by duration: Duration) {
        let woken = change { state in
            state.reading = state.reading.advanced(by: duration)
            let now = state.reading.bootMilliseconds
            let due = state.sleepers.filter { $0.value.wakeTime <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { $0.value.wakeTime < $1.value.wakeTime }.map(\.value)
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Sets only the wall clock, in milliseconds since 1970, as an administrator or NTP does.
    ///
    /// No sleeping task wakes.
    public func setWall(milliseconds: Int64) {
        change { $0.reading.wallMilliseconds = milliseconds }
    }

    /// Sets all clocks, as a boot of the machine does.
    ///
    /// No sleeping task wakes.
    public func set(_ reading: ClockReading) {
        change { $0.reading = reading }
    }

    /// Whether something keeps the wall clock right; a test may set that.
    public var isSynchronized: Bool {
        get { state.withLock { $0.isSynchronized } }
        set { state.withLock { $0.isSynchronized = newValue } }
    }

    /// Waits until ``advance(by:)`` has moved the clock by a duration since the call.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await sleep { $0.advanced(by: duration) }
    }

    /// Waits until ``advance(by:)`` has moved the clock to a moment, perhaps before the call.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until moment: ClockReading) async throws {
        try await sleep { $0.advanced(by: $0.time(until: moment)) }
    }

    /// Sleeps until a moment that is computed from the time at which the sleep begins.
    private func sleep(until end: (ClockReading) -> ClockReading) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        // A task may be cancelled after its sleep is over.
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    let wakeTime = end(state.reading).bootMilliseconds
                    guard wakeTime > state.reading.bootMilliseconds else { return .success(()) }
                    state.sleepers[id] = Sleeper(wakeTime: wakeTime, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let sleeper = state.sleepers.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
