/// Makes an alert without buttons leave the screen: after its own time, or earlier if others wait.
struct NoticeTimer {
    /// How long an alert without buttons may keep others waiting.
    private static let longestForOthers = Duration.seconds(10)

    private let clock: any AlertClock
    private let end: ClockReading
    private let endForOthers: ClockReading
    private let task: Task<Void, Never>

    /// Starts the timer.
    ///
    /// - Parameters:
    ///   - time: How long the alert stays if nothing else waits.
    ///   - start: When it appeared.
    ///   - othersWait: Whether others wait; called each second once they have waited long enough.
    ///   - mustLeave: Called when the time is over, and again each second in case the dismissal
    ///     can't be stored the first time.
    init(
        for time: Duration, from start: ClockReading, _ clock: any AlertClock,
        othersWait: @escaping @Sendable () async -> Bool,
        mustLeave: @escaping @Sendable () -> Void
    ) {
        let end = start.advanced(by: time)
        let first = start.advanced(by: min(time, Self.longestForOthers))
        self.clock = clock
        self.end = end
        endForOthers = first
        task = Task {
            var next = first
            while (try? await clock.sleep(until: next)) != nil {
                var isOver = clock.now().isAtOrAfter(end)
                if !isOver { isOver = await othersWait() }
                if isOver { mustLeave() }
                let now = clock.now()
                let left = now.time(until: end)
                next = now.advanced(by: left > .zero ? min(left, .seconds(1)) : .seconds(1))
            }
        }
    }

    func cancel() { task.cancel() }

    func timeLeft(othersWait: Bool) -> Duration {
        clock.now().time(until: othersWait ? endForOthers : end)
    }
}
