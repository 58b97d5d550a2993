import Dispatch

/// The clock of the machine.
package struct SystemTerminalClock: TerminalClock {
    package init() {}

    package var now: ContinuousClock.Instant { .now }

    package func run(
        at moment: ContinuousClock.Instant, on queue: DispatchQueue,
        _ body: @escaping @Sendable () -> Void
    ) {
        let time = DispatchTime.now() + Self.interval(moment - now)
        queue.asyncAfter(deadline: time, execute: body)
    }

    package func run(
        every interval: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + Self.interval(interval), repeating: Self.interval(interval),
            leeway: Self.interval(interval / 5))
        timer.setEventHandler(handler: body)
        timer.resume()
        // Sources are not Sendable, but any thread may cancel one: dispatch_source_cancel(3).
        nonisolated(unsafe) let source = timer
        return { source.cancel() }
    }

    private static func interval(_ duration: Duration) -> DispatchTimeInterval {
        .microseconds(max(0, Int(duration / .microseconds(1))))
    }
}
