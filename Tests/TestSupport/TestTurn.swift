import Testing

/// When a test runs, for how long, and on which threads: every suite has `.inParallel` or
/// `.alone(because:)`.
public struct TestTurn: SuiteTrait, TestTrait, TestScoping {
    /// How many places the test needs, if this trait sets that.
    fileprivate var places: Int?
    /// How long it may take once it runs, if this trait sets that.
    fileprivate var limit: Duration?

    @TaskLocal private static var isRunning = false

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?,
        performing body: @Sendable () async throws -> Void
    ) async throws {
        if Self.isRunning { return try await body() }
        // A test's own traits come after those of its suite, and take precedence.
        let turns = test.traits.compactMap { $0 as? TestTurn }
        let places = turns.compactMap(\.places).last ?? 1
        let limit = turns.compactMap(\.limit).last
        try await TestPlaces.all.with(places) {
            try await withTaskExecutorPreference(TestThreads()) {
                try await Self.$isRunning.withValue(true) {
                    try await Watchdog.shared.watching(test) {
                        try await Self.run(body, within: limit)
                    }
                }
            }
        }
    }

    private static func run(
        _ body: @Sendable () async throws -> Void, within limit: Duration?
    ) async throws {
        guard let limit else { return try await body() }
        try await withoutActuallyEscaping(body) { body in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await body()
                    return true
                }
                group.addTask {
                    try? await Task.sleep(for: limit)
                    return false
                }
                if try await group.next() == false {
                    Issue.record("It did not end within \(limit).")
                }
                group.cancelAll()
                while try await group.next() != nil {}
            }
        }
    }
}

extension Trait where Self == TestTurn {
    /// Runs tests while others run.
    public static var inParallel: Self { inParallel(places: 1) }

    /// Runs tests while others run.
    ///
    /// - Parameter places: How many places each test needs: several for a test that keeps several
    ///   cores busy, or that takes long, because it also starts earlier then.
    public static func inParallel(places: Int) -> Self { TestTurn(places: places) }

    /// Runs tests while no others run.
    ///
    /// - Parameter reason: What other tests would change for these, or these for others.
    public static func alone(because reason: String) -> Self { TestTurn(places: .max) }

    /// Fails a test that has not ended some time after it began. Swift Testing's own limit would
    /// include the time for which a test waits for its turn.
    public static func within(_ limit: Duration) -> Self { TestTurn(limit: limit) }
}
