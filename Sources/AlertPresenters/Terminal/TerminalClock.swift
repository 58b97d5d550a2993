import Dispatch

/// The time by which keys, countdowns and the silence before an alert takes keys are measured.
package protocol TerminalClock: Sendable {
    var now: ContinuousClock.Instant { get }

    /// Runs a body on a queue at a moment, at once if that has passed.
    func run(
        at moment: ContinuousClock.Instant, on queue: DispatchQueue,
        _ body: @escaping @Sendable () -> Void)

    /// Runs a body on a queue again and again.
    ///
    /// - Returns: What ends it.
    func run(
        every interval: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void
}
