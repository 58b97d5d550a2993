/// The pauses before a failed operation is tried again: each is twice as long as the previous one.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration

    package init(first: Duration = .seconds(1), longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after a number of consecutive failures, at least one.
    package func pause(after failures: Int) -> Duration {
        min(longest, first * (1 << min(max(failures, 1) - 1, 20)))
    }
}
