/// How long to wait before what failed is tried again: twice as long after each failure.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration

    package init(first: Duration = .seconds(1), longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after a number of failures in a row, at least one.
    package func pause(after failures: Int) -> Duration {
        min(longest, first * (1 << min(max(failures, 1) - 1, 20)))
    }
}
