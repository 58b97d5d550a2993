/// A question from its ask until its response is taken.
package struct PendingQuestion: Sendable {
    let manager: AlertManager
    let receipt: Receipt
    /// The value of ``Waiters/resolutionsSeen`` before it was asked.
    let resolutionsBefore: UInt64

    /// The alert as it was when it was asked or joined; it may have its response since then.
    package var record: AlertRecord { receipt.record }
    /// Whether it had been asked before.
    package var isJoined: Bool { !receipt.isNew }
    /// The response to an earlier asking that is not used, because of which it was asked anew.
    package var unused: UnusedResponse? { receipt.unused }

    /// Waits for the end of the alert, also while the server of the queue is away, and returns its
    /// record once that is on disk.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it is no longer what was asked;
    ///   `CancellationError` when the task is cancelled, in which case the alert is not changed.
    package func outcome() async throws -> AlertRecord {
        try await manager.outcome(of: self, isKept: true)
    }

    /// Takes the lease on the response, so that nobody else takes it until the lease ends; `nil` if
    /// somebody has it, or if it is for a named handler.
    package func lease() async -> (any AlertLease)? { await manager.leaseResponse(to: record) }

    /// Takes the lease on the response as soon as nobody else has it; `nil` if somebody, such as
    /// `watch --exec`, has it for longer than a time, or if the server of the queue is away for that
    /// long.
    package func lease(within patience: Duration) async throws -> (any AlertLease)? {
        let end = ContinuousClock.now + patience
        var pause = Duration.milliseconds(20)
        while true {
            if let lease = await lease() {
                if lease.isHeld { return lease }
                lease.end()
            }
            guard ContinuousClock.now < end else { return nil }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(500))
        }
    }
}
