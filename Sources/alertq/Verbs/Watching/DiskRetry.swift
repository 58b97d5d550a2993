import AlertQueue

/// How long a verb that runs forever tolerates a disk that fails.
struct DiskRetry {
    private static let patience = Duration.seconds(5)

    private var failingSince: ContinuousClock.Instant?

    mutating func succeed() { failingSince = nil }

    /// Waits for another try.
    ///
    /// - Throws: The error, if no other try can succeed, or once the disk has failed for too long.
    mutating func pause(after error: AlertError) async throws {
        guard error.mayPass else { throw error }
        let since = failingSince ?? .now
        failingSince = since
        if since.duration(to: .now) > Self.patience { throw error }
        // A disk that fails now may not in a moment.
        try await Task.sleep(for: .milliseconds(500))
    }
}
