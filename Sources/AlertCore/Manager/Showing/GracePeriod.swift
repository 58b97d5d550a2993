import Synchronization

/// The time that presenters have to clear their screens, for one appearance after another.
///
/// Its alarm stays set when they finish earlier, as they nearly always do, and serves the next
/// appearance as well: an alarm for each would wake a thread twice for nothing.
final class GracePeriod: Sendable {
    private static let length = Duration.seconds(2)

    private let clock: any AlertClock
    private let alarm: Alarm
    private let current = Mutex<(end: ClockReading, signals: ShowSignals)?>(nil)

    init(_ clock: any AlertClock) {
        self.clock = clock
        alarm = Alarm(clock: clock)
    }

    /// Begins the period, and returns its end, when ``ShowSignal/graceOver`` is sent.
    func begin(for signals: ShowSignals) -> ClockReading {
        let end = clock.now().advanced(by: Self.length)
        current.withLock { $0 = (end, signals) }
        setAlarm(at: end)
        return end
    }

    /// Ends the period: nothing is sent any longer.
    func end() { current.withLock { $0 = nil } }

    private func setAlarm(at end: ClockReading) {
        alarm.set(at: end) { [weak self] in self?.look() }
    }

    private func look() {
        guard let (end, signals) = current.withLock({ $0 }) else { return }
        guard clock.now().isAtOrAfter(end) else { return setAlarm(at: end) }
        signals.send(.graceOver)
    }
}
