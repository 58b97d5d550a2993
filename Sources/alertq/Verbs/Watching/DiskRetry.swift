import AlertQueue

/// How long a verb that runs forever tolerates a disk that fails; a server that is away it waits for.
struct DiskRetry {
    private static let patience = Duration.seconds(5)

    private var failingSince: ContinuousClock.Instant?

    mutating func succeed() { failingSince = nil }

    /// Waits for another try.
    ///
    /// - Throws: The error, if no other try can succeed, or once the disk has failed for too long.
    mutating func pause(after error: AlertError) async throws {
        guard error.mayPass else { throw error }
        if error.isServerAway {
            // The manager says so, which can't store what is due either.
            failingSince = nil
        } else {
            let since = failingSince ?? .now
            failingSince = since
            if since.duration(to: .now) > Self.patience { throw error }
        }
        // A disk that fails now may not in a moment.
        try await Task.sleep(for: .milliseconds(500))
    }
}
