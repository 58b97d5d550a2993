import AlertQueue

/// How a verb that waits for people anyway waits for a server that is away when it opens the queue.
struct ServerWait: Sendable {
    /// As long as an asker waits to have a question stored: by then, a failover is over.
    private static let longest = Duration.seconds(60)

    private let context: Context
    private let limit: Duration

    /// - Parameters:
    ///   - context: Where it says that it waits.
    ///   - limit: How long the verb waits itself, if not for ever.
    init(in context: Context, within limit: Duration? = nil) {
        self.context = context
        self.limit = min(limit ?? Self.longest, Self.longest)
    }

    /// Runs a closure, and again for as long as the server is away.
    func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        let end = ContinuousClock.now + limit
        var hasSaid = false
        while true {
            do {
                return try await body()
            } catch let error as AlertError where error.isServerAway && .now < end {
                if !hasSaid { context.inform("\(error); waiting until it is back") }
                hasSaid = true
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }
}
